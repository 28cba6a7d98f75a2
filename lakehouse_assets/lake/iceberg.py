"""Tables of the lake for readers of Iceberg: one snapshot per publication.

Invariant: a snapshot holds just the rows of one version of the Delta table, and says which in its summary. What was
published is read back from there, so a publication that was killed has either happened or not.

A data file is shared, not copied: Iceberg's metadata names the very files of the Delta table. It leaves out the columns
that partition a table, as Delta does; Iceberg's readers take them from the metadata. Only a file whose Parquet types
Iceberg does not have (Spark's older timestamps), or with columns that the table does not have, is written anew, beside
the metadata. The columns that Spark's MERGE leaves behind in data files are told to readers by the name mapping, as
fields of no table. Cost: the log, and the footers of the files that came since the last publication.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq
from deltalake import DeltaTable
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError, ServerError
from pyiceberg.io.pyarrow import (
    compute_statistics_plan,
    data_file_statistics_from_parquet_metadata,
    parquet_path_to_id_mapping,
)
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.table import Table
from pyiceberg.table.name_mapping import create_mapping_from_schema
from pyiceberg.typedef import Record
from pyiceberg.utils.config import Config
from pyiceberg.utils.datetime import date_to_days, datetime_to_micros

from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.core.effects import reached
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake.commit_log import is_plain
from lakehouse_assets.lake.data_files import TableFolder
from lakehouse_assets.lake.iceberg_schema import (
    LEFT_BY_MERGE,
    columns_of,
    fields_of_files,
    iceberg_schema,
    iceberg_type,
    partition_spec,
)
from lakehouse_assets.lake.object_path import ObjectPath
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.pruning import FileFacts

CATALOG_NAME = "lakehouse"
NAMESPACE = "lakehouse"
DELTA_VERSION = "lakehouse.delta-version"
KEPT = 30
_FOLDER = "iceberg"
_DELTA_TABLE = "lakehouse.delta-table"
_NAME_MAPPING = "schema.name-mapping.default"
_METRICS = "write.metadata.metrics.column."


@dataclass(frozen=True, kw_only=True)
class Publication:
    """What one publication did; without a new version of the Delta table, nothing."""

    table: str
    delta_version: int
    snapshot: int
    files_shared: int = 0
    files_copied: int = 0
    files_removed: int = 0


def has_catalog(home: Path) -> bool:
    """Whether anything can have been published."""
    return Config().get_catalog_config(CATALOG_NAME) is not None or (home / _FOLDER).is_dir()


def open_catalog(home: Path) -> Catalog:
    """The catalog `lakehouse` of pyiceberg's own configuration; without one, SQLite in the lake's home."""
    if Config().get_catalog_config(CATALOG_NAME) is not None:
        return load_catalog(CATALOG_NAME)
    folder = home / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    return load_catalog(CATALOG_NAME, type="sql", uri=f"sqlite:///{folder / 'catalog.db'}", warehouse=folder.as_uri())


def publish(lake: Lake, contract: TableContract, catalog: Catalog, *, keep: int = KEPT) -> Publication:
    """Bring the Iceberg table of `contract` to the Delta table's present version, in one snapshot.

    Only the last `keep` snapshots stay: each of them holds back the vacuum of files that it shares.
    """
    if isinstance(lake.root, ObjectPath):
        raise LakeStateError(
            subject=f"table {contract.name}",
            seen=f"it is in an object store ({lake.root})",
            why="Iceberg tables share the data files of a lake on a file system; here they would have to be copied",
            remedy="let readers open the Delta table itself, or keep the lake in a folder (LAKEHOUSE_LAKE)",
        )
    delta = lake.open(contract)
    if not is_plain(delta):
        raise LakeStateError(
            subject=f"table {contract.name}",
            seen="it uses features of Delta beyond plain data files, such as deletion vectors or column mapping",
            why="its data files alone do not say which rows it has, so Iceberg's readers would see others",
            remedy="turn the feature off and rewrite the table's files (REORG TABLE … APPLY (PURGE)), then publish",
        )
    columns = columns_of(delta, contract)
    table = _ensured(catalog, contract, columns)
    snapshot = table.current_snapshot()
    published = dict(snapshot.summary.additional_properties) if snapshot and snapshot.summary else {}
    state = {DELTA_VERSION: str(delta.version()), _DELTA_TABLE: str(delta.metadata().id)}
    if snapshot and state.items() <= published.items():
        return Publication(table=contract.name, delta_version=delta.version(), snapshot=snapshot.snapshot_id)
    done = _bring_up(table, TableFolder.of(delta, lake.path(contract), contract), delta, state)
    ordered = sorted(table.snapshots(), key=lambda each: each.sequence_number or 0)
    if expired := [each.snapshot_id for each in ordered[:-keep]]:
        table.maintenance.expire_snapshots().by_ids(expired).commit()
    return done


def published_tables(catalog: Catalog) -> tuple[str, ...]:
    """The tables that were ever published, by name."""
    if not catalog.namespace_exists(NAMESPACE):
        return ()
    return tuple(sorted(name for *_, name in catalog.list_tables(NAMESPACE)))


def held_versions(catalog: Catalog, name: str) -> frozenset[int]:
    """The versions of the Delta table whose files the snapshots that can still be read need."""
    try:
        table = catalog.load_table((NAMESPACE, name))
    except NoSuchTableError:
        return frozenset()
    summaries = [each.summary.additional_properties for each in table.snapshots() if each.summary]
    return frozenset(int(summary[DELTA_VERSION]) for summary in summaries if DELTA_VERSION in summary)


def _bring_up(table: Table, folder: TableFolder, delta: DeltaTable, state: Mapping[str, str]) -> Publication:
    present = {unquote(file.path): file for file in table_facts(delta, folder.contract).files}
    roots = (str(folder.path), _local(table.location()) + "/data")
    published = {_below(roots, task.file.file_path): task.file for task in table.scan().plan_files()}
    copied = 0
    try:
        with (
            table.transaction() as transaction,
            transaction.update_snapshot(snapshot_properties=dict(state)).overwrite() as snapshot,
        ):
            for path in sorted(present.keys() - published.keys()):
                source = _shared_or_copied(table, folder, present[path])
                copied += not str(source).startswith(f"{folder.path}/")
                snapshot.append_data_file(_data_file(table, folder, present[path], source))
            for path in published.keys() - present.keys():
                snapshot.delete_data_file(published[path])
            reached("publish: before snapshot")
        reached("publish: after snapshot")
    except (CommitFailedException, ServerError) as error:
        raise LakeStateError(
            subject=f"Iceberg table {NAMESPACE}.{folder.contract.name}",
            seen=f"the catalog refused the snapshot: {error}",
            why="someone else changed the table meanwhile; what was published before is as it was",
            remedy="publish again",
        ) from error
    current = table.refresh().current_snapshot()
    assert current is not None, "a snapshot was just committed"
    added = len(present.keys() - published.keys())
    return Publication(
        table=folder.contract.name,
        delta_version=delta.version(),
        snapshot=current.snapshot_id,
        files_shared=added - copied,
        files_copied=copied,
        files_removed=len(published.keys() - present.keys()),
    )


def _ensured(catalog: Catalog, contract: TableContract, columns: tuple[Column, ...]) -> Table:
    """The Iceberg table, made or given the columns that it lacks. Names lead from its fields to the files' columns."""
    identifier = (NAMESPACE, contract.name)
    try:
        table = catalog.load_table(identifier)
    except NoSuchTableError:
        catalog.create_namespace_if_not_exists(NAMESPACE)
        schema = iceberg_schema(columns)
        spec = partition_spec(schema, contract.partition_by)
        table = catalog.create_table_if_not_exists(identifier, schema=schema, partition_spec=spec)
    if missing := [each for each in columns if each.name not in table.schema().column_names]:
        with table.update_schema() as update:
            for each in missing:
                update.add_column(each.name, iceberg_type(each.type, element_id=0), doc=each.description)
    mapping = create_mapping_from_schema(fields_of_files(table.schema()))
    wanted = {_NAME_MAPPING: mapping.model_dump_json()}
    # Bounds are values, and metadata is no place for sensitive ones.
    wanted |= {f"{_METRICS}{each.name}": "counts" for each in columns if each.sensitive}
    if not wanted.items() <= table.properties.items():
        with table.transaction() as transaction:
            transaction.set_properties(wanted)
    return table.refresh()


def _shared_or_copied(table: Table, folder: TableFolder, file: FileFacts) -> Path:
    """The file itself if its columns are of the table's types, else a copy that is."""
    source = Path(str(folder.path), unquote(file.path))
    left = {each.name for each in LEFT_BY_MERGE}
    held = [field for field in pq.read_schema(source) if field.name not in left]
    types = {field.name: field.type for field in folder.schema}
    if all(types.get(field.name) == field.type for field in held):
        return source
    known = [field.name for field in held if field.name in types]
    copy = Path(_local(table.location())) / "data" / unquote(file.path)
    copy.parent.mkdir(parents=True, exist_ok=True)
    unfinished = copy.with_suffix(f".{os.getpid()}")
    pq.write_table(folder.read(file, columns=known), unfinished, compression="zstd")
    unfinished.rename(copy)
    return copy


def _data_file(table: Table, folder: TableFolder, file: FileFacts, source: Path) -> DataFile:
    fields = fields_of_files(table.schema())
    unmeasured = {f"{_METRICS}{each.name}": "none" for each in LEFT_BY_MERGE}
    statistics = data_file_statistics_from_parquet_metadata(
        pq.read_metadata(source),
        compute_statistics_plan(fields, {**table.properties, **unmeasured}),
        parquet_path_to_id_mapping(fields),
    )
    for each in LEFT_BY_MERGE:
        statistics.column_sizes.pop(each.field_id, None)
    return DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=_location(source),
        file_format=FileFormat.PARQUET,
        partition=Record(*(_stored(file.partition[name]) for name in folder.contract.partition_by)),
        file_size_in_bytes=source.stat().st_size,
        sort_order_id=None,
        spec_id=table.metadata.default_spec_id,
        equality_ids=None,
        key_metadata=None,
        **statistics.to_serialized_dict(),
    )


def _stored(value: Any) -> Any:
    """A partition's value as Iceberg's metadata keeps it."""
    match value:
        case datetime():
            return datetime_to_micros(value)
        case date():
            return date_to_days(value)
        case _:
            return value


def _location(path: Path) -> str:
    """The file's URI; a plain path where the folder's name has what a URI would take for syntax."""
    return str(path) if set("%#?") & set(str(path)) else f"file://{path}"


def _local(location: str) -> str:
    return location.removeprefix("file://")


def _below(roots: tuple[str, ...], location: str) -> str:
    path = _local(location)
    return next((path.removeprefix(f"{root}/") for root in roots if path.startswith(f"{root}/")), path)
