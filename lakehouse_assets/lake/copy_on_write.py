"""Writes small batches in this process: reads the files that can change, rewrites those that do, commits once.

Invariants: a file that nothing changes is not touched; equal rows are not in the change feed; a file's rows stay in the
order of the owner, and what is new goes into the file whose owners are around it, so that files stay as easy to pass
over as they were. Only plain tables; `execute_here` gives None for what it cannot do exactly, before any effect.

Cost: the touched files read once, the changed ones written once, one log entry.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from lakehouse_assets.core.effects import reached
from lakehouse_assets.lake.commit_log import commit, removal
from lakehouse_assets.lake.contents import contents_by_partition, places, replaced_rows
from lakehouse_assets.lake.data_files import partition_texts, write_change_file
from lakehouse_assets.lake.outcome import Change, Note, Outcome, PartitionValues
from lakehouse_assets.lake.rewrites import Rewrite, assign, rewritten
from lakehouse_assets.lake.row_comparison import Comparison, Indices, compare
from lakehouse_assets.lake.table_files import TableFolder
from lakehouse_assets.plan.pruning import FileFacts, touched_files
from lakehouse_assets.plan.row_hash import content_of_hashes, row_hashes
from lakehouse_assets.plan.write_plan import TableFacts, WritePlan

_CHANGE = "_change_type"
Action = Mapping[str, Any]


def execute_here(
    table: DeltaTable, folder: TableFolder, plan: WritePlan, facts: TableFacts, batch: pa.Table, note: Note
) -> Outcome | None:
    """Carry out `plan` with `batch`, whose columns are the contract's."""
    match plan.action:
        case "nothing":
            return Outcome(unchanged=batch.num_rows if plan.request.strategy != "delete_matching" else 0)
        case "append" | "replace":
            return _load(table, folder, plan, facts, batch, note)
        case "merge" | "delete":
            touched = touched_files(facts.files, plan.request.scopes, plan.request.owners or None)
            if plan.request.strategy == "append_new":
                return _append_new(table, folder, plan, touched, batch, note)
            return _merge(table, folder, plan, touched, batch, note)


def _load(
    table: DeltaTable, folder: TableFolder, plan: WritePlan, facts: TableFacts, batch: pa.Table, note: Note
) -> Outcome:
    replaces = plan.action == "replace"
    contents = contents_by_partition(folder.contract, batch)
    outcome = Outcome(
        inserted=batch.num_rows,
        deleted=replaced_rows(table, plan) if replaces else 0,
        changes={place: Change(added=content) for place, content in contents.items()},
        replaces=replaces,
    )
    gone = touched_files(facts.files, plan.request.scopes, None) if replaces else []
    adds = [file.add() for file in folder.write(folder.whole(batch))]
    return _committed(table, folder, plan, [*adds, *_removals(folder, gone)], outcome, note)


def _append_new(
    table: DeltaTable, folder: TableFolder, plan: WritePlan, touched: Sequence[FileFacts], batch: pa.Table, note: Note
) -> Outcome | None:
    """New keys go into files of their own: what is there already is not rewritten, and of it only keys are read."""
    keys = tuple(folder.contract.column(name) for name in folder.contract.key)
    mine = row_hashes(keys, [batch[each.name] for each in keys])
    parts = [batch.select([each.name for each in keys]).slice(0, 0)]
    for file in touched:  # one by one: of all keys that the table has, only those that the batch may have are kept
        rows = folder.read(file, [each.name for each in keys])
        parts.append(rows.filter(pa.array(np.isin(row_hashes(keys, rows.columns), mine))))
    held = pa.concat_tables(parts)
    by_key = replace(folder.contract, columns=keys, owner=None, partition_by=(), without_statistics=(), audited=False)
    found = compare(by_key, plan.request, batch, held, np.arange(held.num_rows))
    if found is None:
        return None
    new = batch.take(pa.array(found.inserted))
    contents = contents_by_partition(folder.contract, new)
    outcome = Outcome(
        inserted=new.num_rows,
        unchanged=batch.num_rows - new.num_rows,
        changes={place: Change(added=content) for place, content in contents.items()},
    )
    if not new.num_rows:
        return outcome
    return _committed(table, folder, plan, [file.add() for file in folder.write(folder.whole(new))], outcome, note)


def _merge(
    table: DeltaTable, folder: TableFolder, plan: WritePlan, touched: Sequence[FileFacts], batch: pa.Table, note: Note
) -> Outcome | None:
    rewrites: list[Rewrite] = []
    total = 0
    for file in touched:
        rows = folder.read(file)
        rewrites.append(Rewrite(file=file, first=total, rows=rows))
        total += rows.num_rows
    held = pa.concat_tables([each.rows for each in rewrites])
    batch = folder.whole(batch)
    found = compare(folder.contract, plan.request, batch, held, _candidates(folder, plan, held))
    if found is None:
        return None
    outcome = _outcome(folder, batch, rewrites, found)
    if found.changes_nothing:
        return outcome
    loose = assign(folder, batch, held, rewrites, found)
    actions: list[Action] = []
    dirty = [each for each in rewrites if each.is_dirty]
    for each in dirty:
        actions += [file.add() for file in folder.write_place(folder.place(each.file), rewritten(folder, each, batch))]
    actions += [file.add() for file in folder.write(batch.take(pa.array(loose)))] if len(loose) else []
    actions += _removals(folder, [each.file for each in dirty])
    if dirty:  # else readers take the added files for what was inserted
        actions += _feed(folder, batch, held, found)
    return _committed(table, folder, plan, actions, outcome, note)


def _candidates(folder: TableFolder, plan: WritePlan, held: pa.Table) -> Indices:
    """The rows that the write may change: of the touched files' partitions all, or those of the owners."""
    if not plan.request.owners or folder.contract.owner is None:
        return np.arange(held.num_rows)
    owners = pa.array(plan.request.owners, pa.string())
    among = pc.is_in(held[folder.contract.owner], value_set=owners)  # pyright: ignore[reportAttributeAccessIssue]
    return np.flatnonzero(np.asarray(among.cast(pa.uint8())))


def _outcome(folder: TableFolder, batch: pa.Table, rewrites: Sequence[Rewrite], found: Comparison) -> Outcome:
    changes: dict[PartitionValues, Change] = {}
    added = np.concatenate([found.inserted, found.updated])
    if len(added):
        for place, chosen in places(folder.contract, batch.take(pa.array(added))).items():
            changes[place] = Change(added=content_of_hashes(found.batch_hashes[added][chosen]))
    removed = np.concatenate([found.before, found.deleted])
    for each in rewrites:
        mine = removed[(removed >= each.first) & (removed < each.first + each.rows.num_rows)]
        if len(mine):
            before = changes.get(folder.place(each.file), Change())
            gone = before.removed.plus(content_of_hashes(found.table_hashes[mine]))
            changes[folder.place(each.file)] = replace(before, removed=gone)
    return Outcome(
        inserted=len(found.inserted),
        updated=len(found.updated),
        deleted=len(found.deleted),
        unchanged=found.unchanged,
        changes=changes,
    )


def _feed(folder: TableFolder, batch: pa.Table, held: pa.Table, found: Comparison) -> list[Action]:
    """The change feed's files, by partition."""
    kinds = (
        ("insert", batch, found.inserted),
        ("update_preimage", held, found.before),
        ("update_postimage", batch, found.updated),
        ("delete", held, found.deleted),
    )
    parts = [
        rows.take(pa.array(chosen)).append_column(_CHANGE, pa.repeat(pa.scalar(kind), len(chosen)))
        for kind, rows, chosen in kinds
        if len(chosen)
    ]
    changed = pa.concat_tables(parts)
    return [
        write_change_file(
            folder.path,
            folder.contract,
            place,
            changed if isinstance(chosen, slice) else changed.take(pa.array(chosen)),
        )
        for place, chosen in places(folder.contract, changed).items()
    ]


def _removals(folder: TableFolder, files: Sequence[FileFacts]) -> list[Action]:
    return [
        removal(file.path, size=file.size, partition=partition_texts(folder.contract, folder.place(file)))
        for file in files
    ]


def _committed(
    table: DeltaTable,
    folder: TableFolder,
    plan: WritePlan,
    actions: Sequence[Action],
    outcome: Outcome,
    note: Note,
) -> Outcome:
    reached("write: before commit")
    version = commit(
        table,
        folder.path,
        actions,
        operation="MERGE" if plan.action in ("merge", "delete") else "WRITE",
        note=note(outcome),
        transaction=plan.request.key,
        metrics={
            "numTargetRowsInserted": outcome.inserted,
            "numTargetRowsUpdated": outcome.updated,
            "numTargetRowsDeleted": outcome.deleted,
        },
    )
    return replace(outcome, version=version)
