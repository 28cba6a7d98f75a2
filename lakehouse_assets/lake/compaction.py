"""Writes files of a table together, as a plan says: the same rows in fewer files, in the order of the owner.

Invariant: no row comes, goes or changes. The commit says so (`dataChange` is false), so that no change feed tells of
it, no cursor has anything to read, no key and no data version moves. Writers of the partitions wait meanwhile.

Cost: the rows of the plan's files read and written once. Rows of a bin are held in memory a slice at a time.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake.commit_log import brought_up, commit, is_plain, removal
from lakehouse_assets.lake.concurrency import holding, retried
from lakehouse_assets.lake.data_files import (
    BYTES_PER_FILE,
    ROWS_PER_FILE,
    DataFile,
    partition_texts,
    remove_files,
)
from lakehouse_assets.lake.maintained import Done, record
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.table_files import TableFolder
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.compaction import ENOUGH, Bin, CompactionPlan, FileSize, plan_compaction
from lakehouse_assets.plan.scope import equal_scopes

SIZE = FileSize(rows=ROWS_PER_FILE, bytes=BYTES_PER_FILE)
_ROWS_AT_ONCE = 10 * ROWS_PER_FILE


def planned(lake: Lake, contract: TableContract, *, enough: int = ENOUGH) -> CompactionPlan:
    """What is worth writing together now."""
    facts = table_facts(lake.open(contract), contract)
    return plan_compaction(contract.name, facts.version, facts.files, SIZE, enough=enough)


def compact_table(lake: Lake, contract: TableContract, *, enough: int = ENOUGH) -> CompactionPlan:
    """Carry out what is worth it, in one commit for as many partitions as fit into memory; gives what was done."""
    started = time.perf_counter()
    plan = planned(lake, contract, enough=enough)
    if not plan.bins:
        return plan
    table = lake.open(contract)
    if not is_plain(table):
        raise LakeStateError(
            subject=f"table {contract.name}",
            seen="it has features that are not written here, such as deletion vectors or column mapping",
            why="compacting it could lose what these say of its rows",
            remedy="compact it with the engine that turned them on (`OPTIMIZE` in Spark)",
        )
    for bins in _groups(plan.bins):
        _compact(lake, contract, table, bins)
    table.create_checkpoint()
    size = lake.size(contract)
    done = Done(
        asset=contract.name,
        action="optimize",
        version=size.version,
        files_before=plan.files,
        files_after=size.files,
        seconds=time.perf_counter() - started,
    )
    record(lake, done)
    report("optimize", contract.name, "compacted", files_before=plan.files, files_after=size.files)
    return plan


def _groups(bins: Sequence[Bin]) -> Iterator[list[Bin]]:
    """Bins that go into one commit: few commits, and no longer wait for writers than one large bin takes."""
    waiting: list[Bin] = []
    rows = 0
    for each in bins:
        if waiting and rows + each.rows > _ROWS_AT_ONCE:
            yield waiting
            waiting, rows = [], 0
        waiting.append(each)
        rows += each.rows
    if waiting:
        yield waiting


def _compact(lake: Lake, contract: TableContract, table: DeltaTable, bins: Sequence[Bin]) -> None:
    path = lake.path(contract)
    first = contract.partition_by[0] if contract.partition_by else None
    partitions = {each.files[0].partition[first] for each in bins} if first else set[Any]()
    with holding(lake.locks, contract, equal_scopes(first, sorted(partitions)) if first else ()):
        brought_up(table, path)
        bins = [each for each in bins if _is_present(table, each)]
        folder = TableFolder.of(table, path, contract)
        written = [file for each in bins for file in _written(folder, each)]
        if written:
            retried(f"table {contract.name}", lambda: _commit(table, folder, bins, written))


def _is_present(table: DeltaTable, each: Bin) -> bool:
    """Whether no writer has replaced one of the files since the plan; if so, the next plan sees to it."""
    present = set(pa.table(table.get_add_actions(flatten=True))["path"].to_pylist())
    return all(file.path in present for file in each.files)


def _written(folder: TableFolder, each: Bin) -> Iterator[DataFile]:
    place = folder.place(each.files[0])
    for rows in _slices(folder, each):
        yield from folder.write_place(place, folder.ordered(rows))


def _slices(folder: TableFolder, each: Bin) -> Iterator[pa.Table]:
    """The rows of a bin, as many as fit into memory at a time, in the order of the owner."""
    owner = folder.contract.owner
    if owner is None or each.rows <= _ROWS_AT_ONCE:
        yield pa.concat_tables([folder.read(file) for file in each.files])
        return
    owners = pa.concat_tables([folder.read(file, [owner]) for file in each.files])[owner]
    counted = owners.value_counts()
    names = np.array(counted.field("values").to_pylist(), dtype=object)
    counts = np.asarray(counted.field("counts"))
    order = np.argsort(names, kind="stable")
    numbers = np.cumsum(counts[order]) // _ROWS_AT_ONCE
    for number in np.unique(numbers):
        chosen = pa.array(names[order][numbers == number].tolist(), pa.string())
        parts: list[pa.Table] = []
        for file in each.files:  # one by one: of each only what belongs to the slice is kept
            rows = folder.read(file)
            parts.append(rows.filter(pc.is_in(rows[owner], value_set=chosen)))  # pyright: ignore[reportAttributeAccessIssue]
        yield pa.concat_tables(parts)


def _commit(table: DeltaTable, folder: TableFolder, bins: Sequence[Bin], written: Sequence[DataFile]) -> None:
    brought_up(table, folder.path)
    if not all(_is_present(table, each) for each in bins):
        remove_files(folder.path, [file.path for file in written])
        raise LakeStateError(
            subject=f"table {folder.contract.name}",
            seen="another writer replaced files while they were compacted, without waiting for its turn",
            why="nothing was committed",
            remedy="run it again when the other writer is done",
        )
    gone = [file for each in bins for file in each.files]
    actions = [file.add(data_change=False) for file in written]
    actions += [
        removal(
            file.path,
            size=file.size,
            partition=partition_texts(folder.contract, folder.place(file)),
            data_change=False,
        )
        for file in gone
    ]
    metrics = {"numAddedFiles": len(written), "numRemovedFiles": len(gone)}
    commit(table, folder.path, actions, operation="OPTIMIZE", metrics=metrics)
    brought_up(table, folder.path)
