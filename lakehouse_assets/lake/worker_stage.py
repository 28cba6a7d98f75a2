"""A batch that workers have written as data files of its table: staged, but no rows yet.

Invariant: files that no commit names are removed when the write ends, unless its commit's fate is not known. Then,
as after a kill, they are left, and harmless: readers go by the log, and vacuum takes them.

Cost to this process: a line a file, and eight bytes an owner; where the table has no owners, eight bytes a row.
"""

import json
import uuid
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_type, spark_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.effects import reached
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.batch import WorkerRows
from lakehouse_assets.lake.data_files import (
    BYTES_PER_FILE,
    ROWS_PER_FILE,
    DataFile,
    open_parquet,
    partition_values,
    remove_files,
    remove_marked,
)
from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.lake.outcome import PartitionValues
from lakehouse_assets.lake.spark_errors import spark_errors
from lakehouse_assets.lake.staging import Staged
from lakehouse_assets.lake.worker_task import TOLD_SPARK, FittingTask, WorkerTask, answered_for
from lakehouse_assets.plan.pruning import FileFacts
from lakehouse_assets.plan.row_hash import Content, row_hashes
from lakehouse_assets.plan.sql_text import literal, name
from lakehouse_assets.plan.write_facts import BatchFacts, Violation, WriteRequest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(kw_only=True)
class FileStage(Staged):
    """Rows in data files. `handed_over` from when a commit may name them."""

    folder: LakePath
    contract: TableContract
    facts: BatchFacts
    files: tuple[DataFile, ...]
    totals: tuple[int, ...]
    """Sums of the rows' hashes, file by file."""
    handed_over: bool = field(default=False)

    def __post_init__(self) -> None:
        # The plan compares the batch by these: without them it would count as empty.
        self.facts = replace(self.facts, in_files=True, files=tuple(_facts(self.contract, each) for each in self.files))

    def contents(self, contract: TableContract) -> dict[PartitionValues, Content]:
        found: dict[PartitionValues, Content] = {}
        for file, total in zip(self.files, self.totals, strict=True):
            place = partition_values(self.contract, file.partition)
            found[place] = found.get(place, Content()).plus(Content(rows=file.rows, total=total))
        return found

    def arrow(self, columns: Sequence[str]) -> pa.Table:
        parts = list(self.read(columns))
        kinds = [pa.field(each, arrow_type(self.contract.column(each).type)) for each in columns]
        return pa.concat_tables([pa.table([[] for _ in kinds], schema=pa.schema(kinds)), *parts])

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """The rows file by file."""
        stored = [each for each in columns if each not in self.contract.partition_by]
        for file in self.files:
            rows = open_parquet(self.folder / file.path).read(columns=stored)
            places = dict(zip(self.contract.partition_by, partition_values(self.contract, file.partition), strict=True))
            arrays = [
                rows[each].cast(kind)
                if each in stored
                else pa.repeat(pa.scalar(places[each], kind), file.rows)  # a partition's value is in the log alone
                for each, kind in ((each, arrow_type(self.contract.column(each).type)) for each in columns)
            ]
            yield pa.table(arrays, names=list(columns))

    def frame(self, spark: "SparkSession") -> "DataFrame":
        stored = [each for each in self.contract.columns if each.name not in self.contract.partition_by]
        by_place: dict[PartitionValues, list[str]] = {}
        for file in self.files:
            place = partition_values(self.contract, file.partition)
            by_place.setdefault(place, []).append(str(self.folder / file.path))
        frames = [
            spark.read.schema(spark_schema(stored))
            .parquet(*paths)
            .selectExpr(*(self._placed(each.name, place) for each in self.contract.columns))
            for place, paths in by_place.items()
        ]
        if not frames:
            return spark.createDataFrame([], spark_schema(self.contract.columns))
        return reduce(lambda left, right: left.unionAll(right), frames)

    def _placed(self, column_name: str, place: PartitionValues) -> str:
        if column_name not in self.contract.partition_by:
            return name(column_name, "spark")
        value: Any = place[self.contract.partition_by.index(column_name)]
        kind = self.contract.column(column_name).type
        return f"CAST({literal(value, 'spark')} AS {kind}) AS {name(column_name, 'spark')}"


def check_owned(contract: TableContract) -> None:
    """Refuse a contract by which a worker could not answer for its keys, and they are not told one by one either."""
    if contract.owner is not None and contract.owner not in contract.key:
        raise BadInputError(
            subject=f"write to {contract.name}",
            seen=f"workers write its rows, but its owner ({contract.owner}) is not part of its key",
            why="two workers could write the same key, and neither would notice",
            remedy="give the contract an owner that is part of its key, or hand the rows over as a frame",
        )


def as_frame(rows: WorkerRows, contract: TableContract) -> "DataFrame":
    """The rows as a frame, for the ways on which they are not written where they are made."""
    task = FittingTask(contract=contract, produce=rows.produce)
    return rows.items.mapInArrow(task.__call__, spark_schema(contract.columns))


@contextmanager
def worker_stage(
    rows: WorkerRows, contract: TableContract, request: WriteRequest, folder: LakePath, *, run_id: str
) -> Generator[FileStage, None, None]:
    """Let the workers make, check and write the rows."""
    mark = uuid.uuid4().hex[:12]
    task = WorkerTask(
        contract=contract,
        request=request,
        folder=folder,
        mark=mark,
        now=datetime.now(UTC),
        run_id=run_id,
        rows_per_file=ROWS_PER_FILE,
        bytes_per_file=BYTES_PER_FILE,
        produce=rows.produce,
    )
    staged: FileStage | None = None
    try:
        reached("workers: before files")
        with spark_errors(f"batch for {contract.name}"):
            told = rows.items.mapInArrow(task.__call__, TOLD_SPARK).toArrow()
        reached("workers: after files")
        staged = _staged(told, contract, folder)
        yield staged
    finally:
        if staged is None:
            remove_marked(folder, mark)
        elif not staged.handed_over:
            remove_files(folder, [file.path for file in staged.files])


def _staged(told: pa.Table, contract: TableContract, folder: LakePath) -> FileStage:
    chunks = [json.loads(text) for text in told["facts"].to_pylist()]
    facts = [each for chunk in chunks for each in chunk["files"]]
    totals = tuple(each.pop("total") for each in facts)
    files = tuple(DataFile(**each) for each in facts)
    staged = FileStage(
        folder=folder,
        contract=contract,
        facts=BatchFacts(
            columns={each.name: each.type for each in contract.columns},
            rows=sum(chunk["rows"] for chunk in chunks),
            bytes=sum(chunk["bytes"] for chunk in chunks),
            violations=_violations(chunks),
        ),
        files=files,
        totals=totals,
    )
    owners = np.concatenate(
        [np.frombuffer(held, dtype=np.uint64) for held in told["owners"].to_pylist()] or [np.zeros(0, dtype=np.uint64)]
    )
    hashes, counts = np.unique(owners, return_counts=True)
    if len(hashes) != len(owners):
        raise _apart(staged, hashes[counts > 1])
    return staged


def _facts(contract: TableContract, file: DataFile) -> FileFacts:
    told, owner = json.loads(file.stats), contract.owner or ""
    place = partition_values(contract, file.partition)
    return FileFacts(
        path=file.path,
        size=file.size,
        rows=file.rows,
        partition=dict(zip(contract.partition_by, place, strict=True)),
        owner_min=told["minValues"].get(owner),
        owner_max=told["maxValues"].get(owner),
    )


def _violations(chunks: Sequence[dict[str, Any]]) -> tuple[Violation, ...]:
    found: dict[str, Violation] = {}
    for each in (each for chunk in chunks for each in chunk["violations"]):
        before = found.get(each["rule"], Violation(rule=each["rule"], rows=0, examples=()))
        examples = before.examples or tuple(each["examples"])
        found[each["rule"]] = Violation(rule=each["rule"], rows=before.rows + each["rows"], examples=examples)
    return tuple(found.values())


def _apart(staged: FileStage, hashes: Any) -> BadInputError:
    """The refusal of owners whose rows came from several tasks; the first is looked for in the files."""
    contract = staged.contract
    columns = list(answered_for(contract))
    example = "one of them cannot be named, because its rows are refused already"
    for rows in staged.read(columns):
        held = row_hashes([contract.column(each) for each in columns], rows.columns)
        met = np.flatnonzero(np.isin(held, hashes))
        if len(met) and not any(contract.column(each).sensitive for each in columns):
            example = f"such as {rows.slice(int(met[0]), 1).to_pylist()[0]}"
            break
    if contract.owner is None:
        return BadInputError(
            subject=f"write to {contract.name}",
            seen=f"{len(hashes):,} keys stand in the batch more than once, {example}",
            why="nothing was written, because the table would no longer be what its contract promises",
            remedy="give each key in one work item, and once",
        )
    return BadInputError(
        subject=f"write to {contract.name}",
        seen=f"rows of {len(hashes):,} owners come from several work items or not one after the other, {example}",
        why="nothing was written, because one key could then stand in several files unnoticed",
        remedy="give all of an owner's rows in one work item, one after the other",
    )
