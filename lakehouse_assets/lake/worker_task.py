"""What a worker does with the rows it makes: check them, hash them, write them as data files, tell of them in a line.

Invariant: a file holds whole owners, so that a key stands in one file only, and whether it stands there twice is asked
within one file; of a table without owners, it is asked where all files' keys are told. Nothing here is a row of the
table yet: that is the commit's.

Cost: memory for one file's rows, or those of the largest owner; a line a file goes back.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.contents import Places, places
from lakehouse_assets.lake.data_files import write_data_file
from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.lake.row_checks import violations_in
from lakehouse_assets.lake.rows import conform, type_name, with_audit
from lakehouse_assets.plan.alignment import check_batch_columns
from lakehouse_assets.plan.row_hash import content_of_hashes, row_hashes
from lakehouse_assets.plan.write_facts import Violation, WriteRequest

RecordBatches = Iterator[pa.RecordBatch]

TOLD = pa.schema([pa.field("facts", pa.string()), pa.field("owners", pa.binary())])
TOLD_SPARK = "facts string, owners binary"
"""What comes back: a file's facts as JSON, and a hash of each of its owners, else of its keys, eight bytes each."""


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
class WorkerTask(FittingTask):
    """Runs on a worker: the rows written, and a line a file of what they are."""

    request: WriteRequest
    folder: LakePath
    """Of the table; workers see the same folders as the driver."""
    mark: str
    now: datetime
    run_id: str
    rows_per_file: int
    bytes_per_file: int

    def __call__(self, items: RecordBatches) -> RecordBatches:
        try:
            waiting: list[pa.RecordBatch] = []
            rows = size = 0
            for batch in self.fitting(items):
                waiting.append(batch)
                rows += batch.num_rows
                size += batch.nbytes
                if rows >= self.rows_per_file or size >= self.bytes_per_file:
                    ready, rest = self._parted(pa.Table.from_batches(waiting))
                    waiting, rows, size = rest.to_batches(), rest.num_rows, rest.nbytes
                    if ready.num_rows:
                        yield self._chunk(ready)
            if rows:
                yield self._chunk(pa.Table.from_batches(waiting))
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

    def _chunk(self, rows: pa.Table) -> pa.RecordBatch:
        rows = rows.combine_chunks()  # batches of a few rows each would be dear to go through again and again
        held = places(self.contract, rows)
        violations = violations_in(self.contract, self.request, rows, held)
        names = answered_for(self.contract)
        owners = np.unique(row_hashes([self.contract.column(name) for name in names], [rows[name] for name in names]))
        # Nothing of a refused write is kept, but all that is wrong with it is told.
        facts = [] if violations else self._written(rows, held)
        told = {
            "rows": rows.num_rows,
            "bytes": rows.nbytes,
            "files": facts,
            "violations": [_as_dict(violation) for violation in violations],
        }
        return pa.record_batch([pa.array([json_text(told)]), pa.array([owners.tobytes()], pa.binary())], schema=TOLD)

    def _written(self, rows: pa.Table, held: Places) -> list[dict[str, Any]]:
        hashes = row_hashes(self.contract.columns, [rows[each.name] for each in self.contract.columns])
        facts: list[dict[str, Any]] = []
        for place, chosen in held.items():
            here = rows if isinstance(chosen, slice) else rows.take(pa.array(chosen))
            stored = self._stored(self._ordered(here))
            file = write_data_file(self.folder, self.contract, place, stored, mark=self.mark)
            facts.append({**asdict(file), "total": content_of_hashes(hashes[chosen]).total})
        return facts

    def _ordered(self, rows: pa.Table) -> pa.Table:
        """By owner; within an owner as it was made, which packs best."""
        if self.contract.owner is None:
            return rows
        owner = rows[self.contract.owner].combine_chunks()
        if len(owner) < 2 or pc.all(pc.less_equal(owner[:-1], owner[1:])).as_py():  # pyright: ignore[reportAttributeAccessIssue]
            return rows
        return rows.take(pc.sort_indices(owner))  # pyright: ignore[reportAttributeAccessIssue]

    def _stored(self, rows: pa.Table) -> pa.Table:
        return with_audit(rows, self.contract, self.now, self.run_id)


def answered_for(contract: TableContract) -> tuple[str, ...]:
    """The columns that tell for which rows one task answers alone: an owner's, or a key's where there are no owners."""
    return tuple(dict.fromkeys((*contract.partition_by, *([contract.owner] if contract.owner else contract.key))))


def _as_dict(violation: Violation) -> dict[str, Any]:
    return {"rule": violation.rule, "rows": violation.rows, "examples": list(violation.examples)}
