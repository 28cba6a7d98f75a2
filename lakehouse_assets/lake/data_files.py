"""Data files of a table as its log names them: read as Arrow, removed when nobody needs them. Engines write them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from lakehouse_assets.contracts.table import ColumnType, TableContract
from lakehouse_assets.lake.object_path import LakePath, ObjectPath
from lakehouse_assets.lake.outcome import PartitionValues
from lakehouse_assets.lake.spark_errors import delta_errors
from lakehouse_assets.plan.pruning import FileFacts
from lakehouse_assets.plan.row_hash import NO_CONTENT, Content


@dataclass(frozen=True, kw_only=True)
class TableFolder:
    """Where a table's files are, what they hold, and by which contract."""

    path: LakePath
    contract: TableContract
    schema: pa.Schema
    """The table's own columns: also those that the contract has not."""

    @staticmethod
    def of(table: DeltaTable, path: LakePath, contract: TableContract) -> "TableFolder":
        return TableFolder(path=path, contract=contract, schema=pa.schema(table.schema().to_arrow()))

    def read(self, file: FileFacts, columns: Sequence[str] | None = None) -> pa.Table:
        """The file's rows. A column that came to the table later is NULL, a partition's value is in the log alone."""
        names = self.schema.names if columns is None else list(columns)
        # Spark's older timestamps would not fit Arrow's nanoseconds.
        with delta_errors(f"table {self.contract.name}"):
            source = open_parquet(self.path / unquote(file.path), coerce_int96_timestamp_unit="us")
            held = set(source.schema_arrow.names) - set(self.contract.partition_by)
            rows = source.read(columns=[name for name in names if name in held], use_threads=False)
        arrays = []
        for name in names:
            kind = self.schema.field(name).type
            if name in self.contract.partition_by:
                arrays.append(pa.repeat(pa.scalar(file.partition[name], kind), rows.num_rows))
            elif name in held:
                arrays.append(rows[name].cast(kind))
            else:
                arrays.append(pa.nulls(rows.num_rows, kind))
        return pa.table(arrays, schema=pa.schema([self.schema.field(name) for name in names]))


def open_parquet(path: LakePath, **options: Any) -> pq.ParquetFile:
    """A data file to read columns of."""
    return pq.ParquetFile(path.reader() if isinstance(path, ObjectPath) else path, **options)


def partition_texts(contract: TableContract, place: PartitionValues) -> dict[str, str | None]:
    return {name: _text(value) for name, value in zip(contract.partition_by, place, strict=True)}


def partition_values(contract: TableContract, texts: Mapping[str, str | None]) -> PartitionValues:
    """The values of `partition_texts` again."""
    return tuple(_value(contract.column(name).type, texts[name]) for name in contract.partition_by)


def contents_told(contract: TableContract, contents: Mapping[PartitionValues, Content]) -> list[dict[str, Any]]:
    """What partitions hold, as JSON has it."""
    return [
        {"place": partition_texts(contract, place), "rows": content.rows, "total": content.total}
        for place, content in contents.items()
    ]


def contents_of(contract: TableContract, told: Iterable[Mapping[str, Any]]) -> dict[PartitionValues, Content]:
    """What was told of partitions, by any number of workers, taken together."""
    found: dict[PartitionValues, Content] = {}
    for each in told:
        place = partition_values(contract, each["place"])
        found[place] = found.get(place, NO_CONTENT).plus(Content(rows=each["rows"], total=each["total"]))
    return found


def remove_files(folder: LakePath, paths: Sequence[str]) -> None:
    if isinstance(folder, ObjectPath):
        folder.remove_below(paths)
        return
    for path in paths:
        (folder / path).unlink(missing_ok=True)


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
