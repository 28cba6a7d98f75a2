"""Data files: rows of one partition as Parquet in a table's folder. They are rows only once a commit names them.

Used by this process and by Spark's workers, so it needs no session. A partition's folder is named after its
values if they are plain; else after their fingerprint: what a reader needs is in the log, and a name that has to be
escaped is one that engines escape differently.
"""

import io
import re
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakehouse_assets.contracts.table import ColumnType, TableContract
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.lake.object_path import LakePath, ObjectPath
from lakehouse_assets.lake.outcome import PartitionValues
from lakehouse_assets.plan.file_statistics import file_statistics

ROWS_PER_FILE = 100_000
"""Bounds what one changed row makes a write rewrite, whatever the table's size."""
BYTES_PER_FILE = 64 * 1024 * 1024
"""Bounds the memory of whoever writes it, where rows are large."""

CHANGES = "_change_data"
_ROWS_PER_GROUP = 65_536
_SAMPLE = 1_024
_FEW = 8
_PLAIN = re.compile(r"[A-Za-z0-9_.-]{1,100}")


@dataclass(frozen=True, kw_only=True)
class DataFile:
    """A file as a commit names it."""

    path: str
    """Below the table's folder."""
    size: int
    rows: int
    partition: Mapping[str, str | None]
    stats: str

    def add(self, *, data_change: bool = True) -> dict[str, Any]:
        """The action that adds it; without `data_change` its rows were in the table before."""
        return {
            "add": {
                "path": self.path,
                "partitionValues": dict(self.partition),
                "size": self.size,
                "modificationTime": time.time_ns() // 1_000_000,
                "dataChange": data_change,
                "stats": self.stats,
            }
        }


def write_data_file(
    folder: LakePath, contract: TableContract, place: PartitionValues, rows: pa.Table, *, mark: str
) -> DataFile:
    """Write rows of the partition `place`; `mark` is in the file's name, to find what a writer left behind."""
    path = f"{_partition_folder(contract, place)}part-{mark}-{uuid.uuid4()}.zstd.parquet"
    size = write_parquet(folder / path, rows.drop_columns(list(contract.partition_by)))
    return DataFile(
        path=path,
        size=size,
        rows=rows.num_rows,
        partition=partition_texts(contract, place),
        stats=file_statistics(contract, rows),
    )


def write_change_file(
    folder: LakePath, contract: TableContract, place: PartitionValues, rows: pa.Table, *, mark: str
) -> dict[str, Any]:
    """Write what changed in the partition, each row with its `_change_type`, as the action that names it."""
    path = f"{CHANGES}/{_partition_folder(contract, place)}cdc-{mark}-{uuid.uuid4()}.zstd.parquet"
    size = write_parquet(folder / path, rows.drop_columns(list(contract.partition_by)))
    partition = partition_texts(contract, place)
    return {"cdc": {"path": path, "partitionValues": partition, "size": size, "dataChange": False}}


def write_parquet(path: LakePath, rows: pa.Table) -> int:
    """Write a file and give its size."""
    target = io.BytesIO() if isinstance(path, ObjectPath) else path
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(
        rows,
        target,
        compression="zstd",
        row_group_size=_ROWS_PER_GROUP,
        store_schema=False,
        use_dictionary=[name for name in rows.column_names if _repeats(rows[name])],  # pyright: ignore[reportArgumentType]
    )
    if isinstance(path, ObjectPath):
        assert isinstance(target, io.BytesIO)
        return path.write_bytes(target.getvalue())  # whole or not at all
    return path.stat().st_size


def open_parquet(path: LakePath, **options: Any) -> pq.ParquetFile:
    """A data file to read columns of."""
    return pq.ParquetFile(path.reader() if isinstance(path, ObjectPath) else path, **options)


def _repeats(values: pa.ChunkedArray) -> bool:
    """Whether a dictionary would pay: making one of values that all differ takes as long as writing them."""
    sample = values.slice(0, _SAMPLE)
    # Few rows: DuckDB 2.0 takes NULLs beside one value that stands alone for NULLs only, unless there is a dictionary.
    if pa.types.is_nested(values.type) or len(sample) <= _FEW:
        return True
    return len(sample.unique()) * 2 <= len(sample)


def partition_texts(contract: TableContract, place: PartitionValues) -> dict[str, str | None]:
    return {name: _text(value) for name, value in zip(contract.partition_by, place, strict=True)}


def partition_values(contract: TableContract, texts: Mapping[str, str | None]) -> PartitionValues:
    """The values of `partition_texts` again."""
    return tuple(_value(contract.column(name).type, texts[name]) for name in contract.partition_by)


def remove_marked(folder: LakePath, mark: str) -> None:
    """Remove what a writer wrote under its mark and no commit names."""
    for path in folder.rglob(f"*-{mark}-*.parquet"):
        path.unlink(missing_ok=True)


def remove_files(folder: LakePath, paths: Sequence[str]) -> None:
    if isinstance(folder, ObjectPath):
        folder.remove_below(paths)
        return
    for path in paths:
        (folder / path).unlink(missing_ok=True)


def _partition_folder(contract: TableContract, place: PartitionValues) -> str:
    texts = partition_texts(contract, place)
    if all(value is not None and _PLAIN.fullmatch(value) for value in texts.values()):
        return "".join(f"{name}={value}/" for name, value in texts.items())
    return f"partition-{fingerprint(texts.values())}/"


def _value(kind: ColumnType, text: str | None) -> object:
    if text is None:
        return None
    match kind:
        case "int" | "bigint":
            return int(text)
        case "boolean":
            return text == "true"
        case "date":
            return date.fromisoformat(text)
        case "timestamp":
            return datetime.fromisoformat(text)
        case _:
            return text


def _text(value: object) -> str | None:
    """A partition value as the log has it."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"
        case date():
            return value.isoformat()
        case _:
            return str(value)
