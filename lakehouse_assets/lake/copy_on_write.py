"""Writes batches in this process: reads the files that can change, rewrites those that do, commits once.

Only plain tables; `execute_here` gives None for what it cannot do exactly, before any effect.

Cost: the touched files read once, the changed ones written once, one log entry. In memory are the batch, and the
files that it touches: all of them if they are few, else those of one slice.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

from lakehouse_assets.core.effects import reached
from lakehouse_assets.lake.commit_log import commit
from lakehouse_assets.lake.contents import contents_by_partition, replaced_rows
from lakehouse_assets.lake.merging import Action, Merged, merged, removals, together, undo
from lakehouse_assets.lake.outcome import Change, Note, Outcome
from lakehouse_assets.lake.row_comparison import compare
from lakehouse_assets.lake.sliced import dealt, merged_slice
from lakehouse_assets.lake.table_files import TableFolder
from lakehouse_assets.plan.pruning import FileFacts, touched_files
from lakehouse_assets.plan.row_hash import row_hashes
from lakehouse_assets.plan.write_facts import TableFacts
from lakehouse_assets.plan.write_plan import WritePlan


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
    return committed(table, folder, plan, [*adds, *removals(folder, gone)], outcome, note)


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
    return committed(table, folder, plan, [file.add() for file in folder.write(folder.whole(new))], outcome, note)


def _merge(
    table: DeltaTable, folder: TableFolder, plan: WritePlan, touched: Sequence[FileFacts], batch: pa.Table, note: Note
) -> Outcome | None:
    done = _in_slices(folder, plan, batch) if plan.slices else merged(folder, plan.request, touched, batch)
    if done is None:
        return None
    if not done.actions:
        return done.outcome
    return committed(table, folder, plan, done.actions, done.outcome, note)


def _in_slices(folder: TableFolder, plan: WritePlan, batch: pa.Table) -> Merged | None:
    """One slice after the other, so that never more than one slice's files are in memory."""
    parts: list[Merged] = []
    for each, rows in dealt(folder.contract, plan.slices, batch):
        part = merged_slice(folder, plan.request, each, rows)
        if part is None:
            undo(folder, together(parts).actions)
            return None
        parts.append(part)
    return together(parts)


def committed(
    table: DeltaTable,
    folder: TableFolder,
    plan: WritePlan,
    actions: Sequence[Action],
    outcome: Outcome,
    note: Note,
) -> Outcome:
    """Commit the actions. Where another writer was first, the files go: they are made anew from what is there then."""
    reached("write: before commit")
    try:
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
    except CommitFailedError:
        undo(folder, actions)
        raise
    return replace(outcome, version=version)
