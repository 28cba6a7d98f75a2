"""What Dagster's UI shows of a write and of a partition."""

import json
from collections.abc import Mapping, Sequence

from dagster import (
    AssetKey,
    AssetMaterialization,
    MetadataValue,
    TableColumn,
    TableColumnConstraints,
    TableConstraints,
    TableRecord,
    TableSchema,
)
from dagster._core.definitions.data_version import CODE_VERSION_TAG, DATA_VERSION_IS_USER_PROVIDED_TAG, DATA_VERSION_TAG

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.text import fenced
from lakehouse_assets.lake.ledger import Entry
from lakehouse_assets.lake.outcome import BIGGEST, biggest
from lakehouse_assets.lake.report import RowCounts, WriteReport
from lakehouse_assets.plan.row_hash import Content

_SQL_SHOWN = 4_000
_SQL_SHOWN_OF_MANY = 1_000
_KEYS_SHOWN = 100
_VALUE_SHOWN = 300


def table_schema(contract: TableContract) -> TableSchema:
    """The contract as Dagster shows it in the UI."""
    return TableSchema(
        columns=[
            TableColumn(
                name=column.name,
                type=column.type,
                description=column.description,
                constraints=TableColumnConstraints(nullable=column.nullable, unique=contract.key == (column.name,)),
            )
            for column in contract.columns
        ],
        constraints=TableConstraints(other=[f"key: {', '.join(contract.key)}"]),
    )


def materialization(
    contract: TableContract,
    asset_key: AssetKey,
    entry: Entry,
    *,
    written: Mapping[str, MetadataValue],
    inputs: Mapping[str, str],
) -> AssetMaterialization:
    """A partition's own: its key, its content, its data version, what its write did; `inputs` are the tags that tell
    Dagster what was read, without which it would call the partition out of sync."""
    tags = {**inputs, CODE_VERSION_TAG: entry.code_version}
    if entry.data_version:
        tags |= {DATA_VERSION_TAG: entry.data_version, DATA_VERSION_IS_USER_PROVIDED_TAG: "true"}
    metadata = {**partition_metadata(contract, entry), **written}
    return AssetMaterialization(asset_key=asset_key, partition=entry.partition, metadata=metadata, tags=tags)


def written_by_partition(
    contract: TableContract, reports: Sequence[WriteReport]
) -> dict[str, dict[str, MetadataValue]]:
    """What the event of each partition says of its write: rows of its own, and what it has in common with the others.

    Small, for there are as many as partitions: of the write's SQL the beginning; all of it and the keys are in its
    observation.
    """
    found: dict[str, dict[str, MetadataValue]] = {}
    for done in reports:
        numbers = {name: getattr(done, name) for name in ("files_total", "version_before", "version_after")}
        numbers["files_pruned"] = done.files_total - done.files_touched
        numbers["partitions_written_together"] = len(done.entries)
        common: dict[str, MetadataValue] = {name: MetadataValue.int(number) for name, number in numbers.items()}
        common |= {f"seconds/{name}": MetadataValue.float(seconds) for name, seconds in done.seconds.items()}
        common |= {"seconds": MetadataValue.float(done.seconds_in_all), "action": MetadataValue.text(done.action)}
        common |= {"executor": MetadataValue.text(done.executor), **_statement(done, _SQL_SHOWN_OF_MANY)}
        if len(done.entries) == 1:
            common |= _biggest_changes(contract, [done])
        for entry in done.entries:
            counts = done.changed.get(entry.partition, RowCounts())
            own = {name: getattr(counts, name) for name in ("inserted", "updated", "deleted")}
            rows = {f"rows_{name}": MetadataValue.int(rows) for name, rows in own.items() if rows is not None}
            found[entry.partition] = {**rows, **common}
    return found


def summary(contract: TableContract, reports: Sequence[WriteReport], untouched: int) -> dict[str, MetadataValue]:
    """What several writes did together; each has an observation of its own."""
    totals = ("rows_inserted", "rows_updated", "rows_deleted", "rows_unchanged", "files_added", "bytes_added")
    shown: dict[str, MetadataValue] = {
        name: MetadataValue.int(sum(getattr(done, name) for done in reports)) for name in totals
    }
    shown |= {"writes": MetadataValue.int(len(reports)), "partitions_untouched": MetadataValue.int(untouched)}
    shown["seconds"] = MetadataValue.float(round(sum((done.seconds_in_all for done in reports), 0.0), 3))
    return shown | _biggest_changes(contract, reports)


def write_metadata(contract: TableContract, done: WriteReport) -> dict[str, MetadataValue]:
    """The row of `writes`, for the UI; its numbers plot over time."""
    row = done.as_row()
    names = [name for name in row if name.startswith(("rows_", "files_", "bytes_", "version_"))]
    shown: dict[str, MetadataValue] = {name: MetadataValue.int(row[name]) for name in names}
    shown["files_pruned"] = MetadataValue.int(done.files_total - done.files_touched)
    shown |= {name: MetadataValue.text(row[name]) for name in ("strategy", "action", "executor", "executor_reason")}
    shown["seconds"] = MetadataValue.float(done.seconds_in_all)
    shown |= {f"seconds/{name}": MetadataValue.float(seconds) for name, seconds in done.seconds.items()}
    shown |= _statement(done, _SQL_SHOWN)
    if done.owners is not None:
        shown["owners"] = MetadataValue.json(json.loads(done.owners))
        shown["owners_made"] = MetadataValue.int(done.owners_made or 0)
    shown |= _biggest_changes(contract, [done])
    if len(done.entries) == 1:
        return shown | partition_metadata(contract, done.entries[0])
    return shown | {"keys": MetadataValue.json(json.loads(row["keys"])[:_KEYS_SHOWN])}


def _biggest_changes(contract: TableContract, reports: Sequence[WriteReport]) -> dict[str, MetadataValue]:
    """The files with the most rows added and removed, most first; where rows have no owner that is known, the
    partitions."""
    owners = biggest(each for done in reports for each in done.owners_changed)
    if owners and contract.owner is not None and not contract.column(contract.owner).sensitive:
        rows = [
            {"partition": each.partition, contract.owner: each.owner, "rows_added": each.added}
            | {"rows_removed": each.removed}
            for each in owners
        ]
    else:
        changed = [(name, counts) for done in reports for name, counts in done.changed.items() if counts.in_all]
        changed.sort(key=lambda each: (-each[1].in_all, each[0]))
        rows = [
            {"partition": name, "rows_inserted": counts.inserted, "rows_updated": counts.updated}
            | ({} if counts.deleted is None else {"rows_deleted": counts.deleted})
            for name, counts in changed[:BIGGEST]
        ]
    return {"biggest_changes": rows_table(rows)} if rows else {}


def rows_table(rows: Sequence[Mapping[str, object]]) -> MetadataValue:
    """Rows of one shape as the UI shows them; it knows texts and numbers, and a long text would hide the others."""
    return MetadataValue.table([TableRecord({name: _shown(value) for name, value in row.items()}) for row in rows])


def _shown(value: object) -> str | int | float | bool:
    if isinstance(value, bool | int | float):
        return value
    text = "NULL" if value is None else str(value)
    return text if len(text) <= _VALUE_SHOWN else f"{text[:_VALUE_SHOWN]} …"


def _statement(done: WriteReport, longest: int) -> dict[str, MetadataValue]:
    """A statement names every owner it is about: the beginning tells what it does."""
    text = done.statement if len(done.statement) <= longest else f"{done.statement[:longest]} …"
    return {"statement": MetadataValue.md(fenced(text, "sql"))} if text else {}


def partition_metadata(contract: TableContract, entry: Entry) -> dict[str, MetadataValue]:
    """The key that a partition was made with, and its rows."""
    shown: dict[str, MetadataValue] = {
        "read_up_to": MetadataValue.text(entry.cursor),
        "data_version": MetadataValue.text(entry.data_version or "not known"),
        "table_version": MetadataValue.int(entry.table_version),
        "code_version": MetadataValue.text(entry.code_version),
        "settings_hash": MetadataValue.text(entry.settings_hash),
        "policy_hash": MetadataValue.text(entry.policy_hash),
        "input_versions": MetadataValue.json(json.loads(entry.input_versions)),
    }
    if entry.data_version is not None and contract.partition_by:
        shown["dagster/partition_row_count"] = MetadataValue.int(Content.from_version(entry.data_version).rows)
    return shown
