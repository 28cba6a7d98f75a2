"""A batch that comes in a stream: a short one is held in memory, a long one waits in files beside the tables.

Invariant: nothing is written before the whole stream has come and was checked. A key stands once in it; its hash is all
that is remembered of it. Files that a kill leaves behind are removed by `lakehouse gc`.

Cost: memory for one part of the rows and eight bytes a row; each row is written and read once more.
"""

import uuid
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lakehouse_assets.contracts.rule_names import DUPLICATE_KEY
from lakehouse_assets.contracts.schemas import arrow_schema, spark_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.batch import StreamedRows
from lakehouse_assets.lake.contents import contents_by_partition
from lakehouse_assets.lake.data_files import open_parquet, remove_files
from lakehouse_assets.lake.naming import EXAMPLES, named_rows
from lakehouse_assets.lake.object_path import LakePath, ObjectPath
from lakehouse_assets.lake.outcome import PartitionValues
from lakehouse_assets.lake.row_checks import together, violations_in
from lakehouse_assets.lake.staging import LocalStage, Staged
from lakehouse_assets.plan.row_hash import Content, Hashes, row_hashes
from lakehouse_assets.plan.write_facts import BatchFacts, Violation, WriteRequest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STAGING = "_staging"
"""Folder beside the tables: Spark's executors see it as well."""
ROWS_A_PART = 100_000
BYTES_A_PART = 64 * 1024 * 1024


@contextmanager
def stream_stage(
    rows: StreamedRows, contract: TableContract, request: WriteRequest, root: LakePath
) -> Generator[Staged, None, None]:
    """Hold the stream still."""
    parts = _parts(rows.batches, contract)
    first = next(parts, arrow_schema(contract.columns).empty_table())
    second = next(parts, None)
    if second is None:
        yield LocalStage(first, contract, request)
        return
    if contract.violations == "quarantine":  # rows that break the contract are told from the others where all are
        yield LocalStage(pa.concat_tables(chain((first, second), parts)), contract, request)
        return
    waiting = _Waiting(root / STAGING / uuid.uuid4().hex, contract, request)
    try:
        for part in chain((first, second), parts):
            waiting.add(part)
        yield waiting.staged()
    finally:
        waiting.remove()


def _parts(batches: Iterator[pa.RecordBatch], contract: TableContract) -> Iterator[pa.Table]:
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        while rows >= ROWS_A_PART or size >= BYTES_A_PART:
            held = pa.Table.from_batches(waiting)
            yield held.slice(0, ROWS_A_PART).combine_chunks()
            waiting = held.slice(ROWS_A_PART).to_batches()
            rows = sum(each.num_rows for each in waiting)
            size = 0  # a slice counts the whole buffer it is cut from
    if rows:
        yield pa.Table.from_batches(waiting).combine_chunks()


class StreamStage(Staged):
    """Rows in files of their own."""

    def __init__(
        self,
        folder: LakePath,
        names: Sequence[str],
        contract: TableContract,
        facts: BatchFacts,
        contents: dict[PartitionValues, Content],
    ) -> None:
        self.facts = facts
        self._folder, self._names, self._contract, self._contents = folder, names, contract, contents

    def contents(self, contract: TableContract) -> dict[PartitionValues, Content]:
        return self._contents

    def arrow(self, columns: Sequence[str]) -> pa.Table:
        return pa.concat_tables(self.parts(columns))

    def parts(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        schema = arrow_schema(self._contract.column(name) for name in columns)
        for name in self._names:
            yield open_parquet(self._folder / name).read(columns=list(columns)).select(list(columns)).cast(schema)

    def frame(self, spark: "SparkSession") -> "DataFrame":
        schema = spark_schema(self._contract.columns)
        return spark.read.schema(schema).parquet(*(str(self._folder / name) for name in self._names))


class _Waiting:
    """The parts that have come so far."""

    def __init__(self, folder: LakePath, contract: TableContract, request: WriteRequest) -> None:
        self._folder, self._contract, self._request = folder, contract, request
        self._names: list[str] = []
        self._keys: list[Hashes] = []
        self._contents: dict[PartitionValues, Content] = {}
        self._violations: dict[str, Violation] = {}
        self._rows = 0

    def add(self, rows: pa.Table) -> None:
        contract = self._contract
        broken = violations_in(contract, self._request, rows, part=True)
        self._violations = reduce(together, broken, self._violations)
        self._keys.append(self._hashes(rows))
        for place, content in contents_by_partition(contract, rows).items():
            self._contents[place] = self._contents.get(place, Content()).plus(content)
        self._rows += rows.num_rows
        self._names.append(f"{len(self._names):06}.parquet")
        _write(self._folder / self._names[-1], rows)

    def staged(self) -> StreamStage:
        contract = self._contract
        facts = BatchFacts(
            columns={each.name: each.type for each in contract.columns},
            rows=self._rows,
            in_process=True,
        )
        staged = StreamStage(self._folder, self._names, contract, facts, self._contents)
        if doubled := self._doubled(staged):
            self._violations[doubled.rule] = doubled
        staged.facts = BatchFacts(**{**vars(facts), "violations": tuple(self._violations.values())})
        return staged

    def remove(self) -> None:
        remove_files(self._folder, self._names)
        if not isinstance(self._folder, ObjectPath) and self._folder.exists():
            self._folder.rmdir()

    def _hashes(self, rows: pa.Table) -> Hashes:
        key = self._contract.key
        return row_hashes([self._contract.column(name) for name in key], [rows[name] for name in key])

    def _doubled(self, staged: StreamStage) -> Violation | None:
        """Keys that stand in two parts; the first are named from the files."""
        hashes, counts = np.unique(np.concatenate(self._keys), return_counts=True)
        if len(hashes) == self._rows:
            return None
        met = hashes[counts > 1]
        examples: dict[str, None] = {}
        for rows in staged.parts(self._contract.key):
            found = rows.filter(pa.array(np.isin(self._hashes(rows), met))).slice(0, EXAMPLES).to_pylist()
            examples |= dict.fromkeys(named_rows(self._contract, found))
        return Violation(rule=DUPLICATE_KEY, rows=self._rows - len(hashes), examples=tuple(examples)[:EXAMPLES])


def _write(path: LakePath, rows: pa.Table) -> None:
    if isinstance(path, ObjectPath):
        sink = pa.BufferOutputStream()
        pq.write_table(rows, sink, compression="lz4")
        path.write_bytes(sink.getvalue().to_pybytes())
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, path, compression="lz4")
