"""A table's data files as Arrow, and rows as new data files of it. Plain tables only: see `commit_log.is_plain`."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from deltalake import DeltaTable

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.contents import places
from lakehouse_assets.lake.data_files import ROWS_PER_FILE, DataFile, open_parquet, write_data_file
from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.lake.outcome import PartitionValues
from lakehouse_assets.lake.spark_errors import delta_errors
from lakehouse_assets.plan.pruning import FileFacts

MARK = "local"


@dataclass(frozen=True, kw_only=True)
class TableFolder:
    """Where a table's files are, what they hold, and by which contract."""

    path: LakePath
    contract: TableContract
    schema: pa.Schema
    """The table's own columns: also those that the contract has not, which rows keep."""
    mark: str = MARK
    """In the names of the files that are written."""

    @staticmethod
    def of(table: DeltaTable, path: LakePath, contract: TableContract) -> "TableFolder":
        return TableFolder(path=path, contract=contract, schema=pa.schema(table.schema().to_arrow()))

    def place(self, file: FileFacts) -> PartitionValues:
        return tuple(file.partition[name] for name in self.contract.partition_by)

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

    def whole(self, rows: pa.Table) -> pa.Table:
        """The rows with every column of the table, in its order; what they lack is NULL."""
        arrays = [
            rows[field.name].cast(field.type)
            if field.name in rows.column_names
            else pa.nulls(rows.num_rows, field.type)
            for field in self.schema
        ]
        return pa.table(arrays, schema=self.schema)

    def write(self, rows: pa.Table) -> list[DataFile]:
        """Write rows as new files, by partition, in the order of the owner."""
        written: list[DataFile] = []
        held = places(self.contract, rows) if rows.num_rows else {}
        # Each partition taken from many chunks would go through all of them; rows of a single one are not copied.
        whole = rows.combine_chunks() if len(held) > 1 else rows
        for place, chosen in held.items():
            here = whole if isinstance(chosen, slice) else whole.take(pa.array(chosen))
            written += self.write_place(place, self.ordered(here))
        return written

    def write_place(self, place: PartitionValues, rows: pa.Table) -> list[DataFile]:
        """Write rows of one partition as they are ordered, in as many files as their number asks for.

        Files end where an owner ends, so that those of different owners can be told and rewritten apart.
        """
        count = max(1, round(rows.num_rows / ROWS_PER_FILE))
        edges = [rows.num_rows * number // count for number in range(count + 1)]
        if count > 1 and self.contract.owner is not None:
            ranks = owner_ranks(rows, self.contract.owner)
            ends = np.append(np.flatnonzero(ranks[1:] != ranks[:-1]) + 1, rows.num_rows)
            edges = [0, *(int(ends[np.searchsorted(ends, edge)]) for edge in edges[1:])]
        parts = (rows.slice(first, last - first) for first, last in pairwise(edges) if last > first)
        return [write_data_file(self.path, self.contract, place, part, mark=self.mark) for part in parts]

    def ordered(self, rows: pa.Table) -> pa.Table:
        if self.contract.owner is None:
            return rows
        ranks = owner_ranks(rows, self.contract.owner)
        if np.all(ranks[:-1] <= ranks[1:]):
            return rows
        return rows.take(pa.array(np.argsort(ranks, kind="stable")))


def owner_ranks(rows: pa.Table, owner: str) -> npt.NDArray[np.int64]:
    """A number for each row that orders it by owner. Only owners that differ are compared, and they are few."""
    encoded = rows[owner].combine_chunks().dictionary_encode(null_encoding="encode")
    values = encoded.dictionary.to_pylist()
    order = sorted(range(len(values)), key=lambda number: (values[number] is not None, values[number]))
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.arange(len(values))
    return ranks[np.asarray(encoded.indices)]
