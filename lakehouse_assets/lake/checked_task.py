"""What a worker does with the rows it makes before Spark writes them: fit them to the contract, check them, hash them.

Invariant: rows that break the contract fail their task, and with it the write, before anything is committed. A key
stands in one task only: work is dealt by the columns that answer for it (`answered_for`), a task gives rows of its own
work items alone, and whether a key stands there twice is asked within the task.

Cost: memory for one chunk of rows, or those of the largest owner, and eight bytes an owner (a key, where a table has no
owners); one pass, in which Spark also writes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError, LakehouseError
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.contents import contents_by_partition
from lakehouse_assets.lake.data_files import contents_told
from lakehouse_assets.lake.naming import named_rows
from lakehouse_assets.lake.row_checks import violations_in
from lakehouse_assets.lake.rows import conform, type_name
from lakehouse_assets.plan.alignment import check_batch_columns
from lakehouse_assets.plan.row_hash import Hashes, row_hashes
from lakehouse_assets.plan.write_facts import WriteRequest
from lakehouse_assets.plan.write_plan import refusal

RecordBatches = Iterator[pa.RecordBatch]

TOLD = "lakehouse_told"
"""Column beside the rows: in the first one of a chunk the content of its partitions as JSON, else NULL."""
_ROWS_AT_ONCE = 100_000
_BYTES_AT_ONCE = 64 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class FittingTask:
    """Runs on a worker, as what `mapInArrow` calls: the rows that `produce` makes, in the contract's columns."""

    contract: TableContract
    produce: Callable[[RecordBatches], RecordBatches]

    def __call__(self, items: RecordBatches) -> RecordBatches:
        try:
            yield from self.fitting(items)
        except LakehouseError as error:
            # Spark hands home the text of the traceback only.
            raise RuntimeError(error.to_wire()) from error

    def fitting(self, items: RecordBatches) -> RecordBatches:
        """Refuse a batch that has other columns, or them in other types. One of the contract's own costs nothing."""
        own, known = arrow_schema(self.contract.columns), None
        # New columns come by the contract here: one that some tasks bring and others don't could not be planned.
        policy = "freeze" if self.contract.schema_policy == "evolve" else self.contract.schema_policy
        contract = replace(self.contract, schema_policy=policy)
        for batch in self.produce(items):
            if batch.schema.equals(own):
                yield batch
                continue
            rows = pa.Table.from_batches([batch])
            if contract.schema_policy == "discard":
                rows = rows.select([name for name in rows.column_names if name in contract.column_names])
            if rows.schema != known:
                check_batch_columns(contract, {field.name: type_name(field.type) for field in rows.schema})
                known = rows.schema
            yield from conform(rows, self.contract.columns).to_batches()


@dataclass(frozen=True, kw_only=True)
class CheckingTask(FittingTask):
    """Runs on a worker: the rows as Spark is to write them, and what they come to."""

    request: WriteRequest

    def __call__(self, items: RecordBatches) -> RecordBatches:
        try:
            asked = _Asked(answered_for(self.contract), self.contract)
            whole = replace(self, produce=lambda some: self.produce(asked.passing(some)))
            waiting: list[pa.RecordBatch] = []
            rows = size = 0
            for batch in whole.fitting(items):
                waiting.append(batch)
                rows += batch.num_rows
                size += batch.nbytes
                if rows >= _ROWS_AT_ONCE or size >= _BYTES_AT_ONCE:
                    ready, rest = self._parted(pa.Table.from_batches(waiting))
                    waiting, rows, size = rest.to_batches(), rest.num_rows, rest.nbytes
                    if ready.num_rows:
                        yield from self._checked(ready, asked)
            if rows:
                yield from self._checked(pa.Table.from_batches(waiting), asked)
        except LakehouseError as error:
            raise RuntimeError(error.to_wire()) from error

    def _parted(self, rows: pa.Table) -> tuple[pa.Table, pa.Table]:
        """The rows of owners that are complete, and those of the last one, of which more may come."""
        if self.contract.owner is None:
            return rows, rows.slice(rows.num_rows)
        last = np.ones(rows.num_rows, dtype=bool)
        for name in answered_for(self.contract):
            value = rows[name][-1]
            last &= np.asarray(pc.equal(rows[name], value).fill_null(False).cast(pa.uint8())).astype(bool)  # pyright: ignore[reportAttributeAccessIssue]
        others = np.flatnonzero(~last)
        cut = int(others[-1]) + 1 if len(others) else 0
        return rows.slice(0, cut), rows.slice(cut)

    def _checked(self, rows: pa.Table, asked: "_Asked") -> RecordBatches:
        rows = rows.combine_chunks()  # batches of a few rows each would be dear to go through again and again
        violations = violations_in(self.contract, self.request, rows)
        if violations:
            raise refusal(self.contract, violations)
        asked.answer(rows)
        told = contents_told(self.contract, contents_by_partition(self.contract, rows))
        column = pa.array([json_text(told)], pa.string())
        column = pa.concat_arrays([column, pa.nulls(rows.num_rows - 1, pa.string())])
        yield from rows.append_column(TOLD, column).to_batches()


class _Asked:
    """The work items that a task has taken, and those that it has given rows for, by the hash of who answers."""

    def __init__(self, names: tuple[str, ...], contract: TableContract) -> None:
        self._names = names
        self._contract = contract
        self._taken: Hashes = np.zeros(0, dtype=np.uint64)
        self._given: Hashes = np.zeros(0, dtype=np.uint64)

    def passing(self, items: RecordBatches) -> RecordBatches:
        for batch in items:
            self._taken = np.union1d(self._taken, self._hashes(batch))
            yield batch

    def answer(self, rows: pa.Table) -> None:
        """Note that these rows are given; refused where others have to answer for them, or did before."""
        hashes = self._hashes(rows)
        own = np.unique(hashes)
        strange = np.setdiff1d(own, self._taken, assume_unique=True)
        if len(strange):
            raise self._refused(
                f"rows{self._such_as(rows, hashes, strange)} are of none of their task's work items",
                "the same key could come from another task, and neither would notice",
            )
        again = np.intersect1d(own, self._given, assume_unique=True)
        if len(again):
            seen = f"rows{self._such_as(rows, hashes, again)} come in several parts, not one after the other"
            raise self._refused(seen, "one key could then stand in both unnoticed")
        self._given = np.union1d(self._given, own)

    def _hashes(self, rows: "pa.Table | pa.RecordBatch") -> Hashes:
        kinds = [self._contract.column(name) for name in self._names]
        return row_hashes(kinds, [rows.column(name) for name in self._names])

    def _such_as(self, rows: pa.Table, hashes: Hashes, wanted: Hashes) -> str:
        met = rows.filter(pa.array(np.isin(hashes, wanted))).slice(0, 1).select(list(self._contract.key))
        return f", such as {named_rows(self._contract, met.to_pylist())[0]},"

    def _refused(self, seen: str, why: str) -> BadInputError:
        return BadInputError(
            subject=f"write to {self._contract.name}",
            seen=seen,
            why=f"nothing was written, because {why}",
            remedy=f"give each work item the columns {', '.join(self._names)}, and all of its rows one after the other",
        )


def answered_for(contract: TableContract) -> tuple[str, ...]:
    """The columns that tell for which rows one task answers alone: an owner's, or a key's where there are no owners."""
    return tuple(dict.fromkeys((*contract.partition_by, *([contract.owner] if contract.owner else contract.key))))
