"""A batch that comes in a stream: a short one is held in memory, a long one is written as data files while it comes.

Invariant: as with workers' files, nothing is a row before the commit names its file, and what no commit names is
removed. A key stands once in the whole stream; its hash is all that is remembered of it.

Cost: memory for one file's rows and eight bytes a row.
"""

import uuid
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain

import numpy as np
import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.batch import StreamedRows
from lakehouse_assets.lake.contents import places
from lakehouse_assets.lake.data_files import (
    BYTES_PER_FILE,
    ROWS_PER_FILE,
    DataFile,
    remove_files,
    remove_marked,
    write_data_file,
)
from lakehouse_assets.lake.naming import EXAMPLES, named_rows
from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.lake.row_checks import violations_in
from lakehouse_assets.lake.rows import with_audit
from lakehouse_assets.lake.staging import LocalStage, Staged
from lakehouse_assets.lake.worker_stage import FileStage
from lakehouse_assets.plan.batch_check import DUPLICATE_KEY
from lakehouse_assets.plan.row_hash import Hashes, content_of_hashes, row_hashes
from lakehouse_assets.plan.write_facts import BatchFacts, Violation, WriteRequest


@contextmanager
def stream_stage(
    rows: StreamedRows, contract: TableContract, request: WriteRequest, folder: LakePath, *, run_id: str, in_files: bool
) -> Generator[Staged, None, None]:
    """Hold the stream still. Without `in_files` all of it is held in memory."""
    parts = _parts(rows.batches, contract)
    first = next(parts, arrow_schema(contract.columns).empty_table())
    second = next(parts, None)
    if second is None:
        yield LocalStage(first, contract, request)
        return
    rest = chain((first, second), parts)
    if not in_files:
        yield LocalStage(pa.concat_tables(rest), contract, request)
        return
    writer = _Writer(contract, request, folder, run_id)
    staged: FileStage | None = None
    try:
        for part in rest:
            writer.add(part)
        staged = writer.staged()
        yield staged
    finally:
        if staged is None:
            remove_marked(folder, writer.mark)
        elif not staged.handed_over:
            remove_files(folder, [file.path for file in staged.files])


def _parts(batches: Iterator[pa.RecordBatch], contract: TableContract) -> Iterator[pa.Table]:
    """The stream in parts of a file each."""
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        while rows >= ROWS_PER_FILE or size >= BYTES_PER_FILE:
            held = pa.Table.from_batches(waiting)
            yield held.slice(0, ROWS_PER_FILE).combine_chunks()
            waiting = held.slice(ROWS_PER_FILE).to_batches()
            rows = sum(each.num_rows for each in waiting)
            size = 0  # a slice counts the whole buffer it is cut from
    if rows:
        yield pa.Table.from_batches(waiting).combine_chunks()


class _Writer:
    def __init__(self, contract: TableContract, request: WriteRequest, folder: LakePath, run_id: str) -> None:
        self.mark = uuid.uuid4().hex[:12]
        self._contract, self._request, self._folder, self._run_id = contract, request, folder, run_id
        self._now = datetime.now(UTC)
        self._files: list[DataFile] = []
        self._totals: list[int] = []
        self._keys: list[Hashes] = []
        self._violations: dict[str, Violation] = {}
        self._rows = self._bytes = 0

    def add(self, rows: pa.Table) -> None:
        contract = self._contract
        held = places(contract, rows)
        for each in violations_in(contract, self._request, rows, held):
            before = self._violations.get(each.rule, Violation(rule=each.rule, rows=0, examples=each.examples))
            self._violations[each.rule] = Violation(
                rule=each.rule, rows=before.rows + each.rows, examples=before.examples
            )
        self._keys.append(row_hashes([contract.column(name) for name in contract.key], [rows[n] for n in contract.key]))
        self._rows += rows.num_rows
        self._bytes += rows.nbytes
        hashes = row_hashes(contract.columns, [rows[each.name] for each in contract.columns])
        for place, chosen in held.items():
            here = rows if isinstance(chosen, slice) else rows.take(pa.array(chosen))
            stored = with_audit(here, contract, self._now, self._run_id)
            self._files.append(write_data_file(self._folder, contract, place, stored, mark=self.mark))
            self._totals.append(content_of_hashes(hashes[chosen]).total)

    def staged(self) -> FileStage:
        staged = FileStage(
            folder=self._folder,
            contract=self._contract,
            facts=BatchFacts(
                columns={each.name: each.type for each in self._contract.columns},
                rows=self._rows,
                bytes=self._bytes,
                violations=(),
            ),
            files=tuple(self._files),
            totals=tuple(self._totals),
        )
        if doubled := self._doubled(staged):
            self._violations.setdefault(doubled.rule, doubled)
        staged.facts = BatchFacts(**{**vars(staged.facts), "violations": tuple(self._violations.values())})
        return staged

    def _doubled(self, staged: FileStage) -> Violation | None:
        """Keys that stand in two parts; the first are named from the files."""
        hashes, counts = np.unique(np.concatenate(self._keys), return_counts=True)
        if len(hashes) == self._rows:
            return None
        contract, met = self._contract, hashes[counts > 1]
        examples: dict[str, None] = {}
        for rows in staged.read(contract.key):
            own = row_hashes([contract.column(name) for name in contract.key], rows.columns)
            found = rows.filter(pa.array(np.isin(own, met))).slice(0, EXAMPLES).to_pylist()
            examples |= dict.fromkeys(named_rows(contract, found))
        return Violation(rule=DUPLICATE_KEY, rows=self._rows - len(hashes), examples=tuple(examples)[:EXAMPLES])
