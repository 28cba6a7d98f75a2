"""Files of a table and the rows of a batch that meet them, merged in memory: what is rewritten, and what that changed.

Invariants: a file that nothing changes is not touched; equal rows are not in the change feed; a file's rows stay in the
order of the owner, and what is new goes into the file whose owners are around it, so that files stay as easy to pass
over as they were. Nothing is committed here: what comes back are the actions of a commit.

Cost: the files read once, the changed ones written once. Needs no session, so that workers merge as well.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakehouse_assets.lake.commit_log import removal
from lakehouse_assets.lake.contents import places
from lakehouse_assets.lake.data_files import partition_texts, remove_files, write_change_file
from lakehouse_assets.lake.outcome import Change, Outcome, OwnerChange, PartitionValues, biggest
from lakehouse_assets.lake.rewrites import Rewrite, assign, rewritten
from lakehouse_assets.lake.row_comparison import Comparison, Indices, compare
from lakehouse_assets.lake.table_files import TableFolder
from lakehouse_assets.plan.pruning import FileFacts
from lakehouse_assets.plan.row_hash import content_of_hashes
from lakehouse_assets.plan.write_facts import WriteRequest

Action = Mapping[str, Any]
_CHANGE = "_change_type"


@dataclass(frozen=True, kw_only=True)
class Merged:
    """The actions of a commit, and what they change."""

    actions: tuple[Action, ...] = ()
    outcome: Outcome = field(default_factory=Outcome)


def merged(
    folder: TableFolder,
    request: WriteRequest,
    files: Sequence[FileFacts],
    batch: pa.Table,
    *,
    is_part: bool = False,
) -> Merged | None:
    """Merge `batch` into `files`; None, before any effect, if hashes of keys cannot tell.

    `is_part`: other parts of the same commit may take rows away, so that readers look for changes in the feed alone.
    """
    rewrites: list[Rewrite] = []
    total = 0
    for file in files:
        rows = folder.read(file)
        rewrites.append(Rewrite(file=file, first=total, rows=rows))
        total += rows.num_rows
    batch = folder.whole(batch)
    held = pa.concat_tables([batch.slice(0, 0), *(each.rows for each in rewrites)])
    found = compare(folder.contract, request, batch, held, _candidates(folder, request, held))
    if found is None:
        return None
    outcome = _outcome(folder, batch, held, rewrites, found)
    if found.changes_nothing:
        return Merged(outcome=outcome)
    loose = assign(folder, batch, held, rewrites, found)
    actions: list[Action] = []
    dirty = [each for each in rewrites if each.is_dirty]
    for each in dirty:
        actions += [file.add() for file in folder.write_place(folder.place(each.file), rewritten(folder, each, batch))]
    actions += [file.add() for file in folder.write(batch.take(pa.array(loose)))] if len(loose) else []
    actions += removals(folder, [each.file for each in dirty])
    if dirty or is_part:  # else readers take the added files for what was inserted
        actions += _feed(folder, batch, held, found)
    return Merged(actions=tuple(actions), outcome=outcome)


def together(parts: Iterable[Merged]) -> Merged:
    """The parts as one."""
    actions: list[Action] = []
    changes: dict[PartitionValues, Change] = {}
    outcomes: list[Outcome] = []
    for part in parts:
        actions += part.actions
        outcomes.append(part.outcome)
        for place, change in part.outcome.changes.items():
            changes[place] = changes.get(place, Change()).plus(change)
    counts = reduce(
        lambda sums, each: (
            sums[0] + each.inserted,
            sums[1] + each.updated,
            sums[2] + each.deleted,
            sums[3] + each.unchanged,
        ),
        outcomes,
        (0, 0, 0, 0),
    )
    inserted, updated, deleted, unchanged = counts
    outcome = Outcome(
        inserted=inserted,
        updated=updated,
        deleted=deleted,
        unchanged=unchanged,
        changes=changes,
        owners=biggest(owner for each in outcomes for owner in each.owners),  # an owner is in one part only
    )
    return Merged(actions=tuple(actions), outcome=outcome)


def undo(folder: TableFolder, actions: Iterable[Action]) -> None:
    """Remove the files of actions that no commit has."""
    actions = list(actions)
    remove_files(folder.path, [action[kind]["path"] for action in actions for kind in ("add", "cdc") if kind in action])


def removals(folder: TableFolder, files: Sequence[FileFacts]) -> list[Action]:
    return [
        removal(file.path, size=file.size, partition=partition_texts(folder.contract, folder.place(file)))
        for file in files
    ]


def _candidates(folder: TableFolder, request: WriteRequest, held: pa.Table) -> Indices:
    """The rows that the write may change: of the touched files' partitions all, or those of the owners."""
    if not request.owners or folder.contract.owner is None:
        return np.arange(held.num_rows)
    owners = pa.array(request.owners, pa.string())
    among = pc.is_in(held[folder.contract.owner], value_set=owners)  # pyright: ignore[reportAttributeAccessIssue]
    return np.flatnonzero(np.asarray(among.cast(pa.uint8())))


def _outcome(
    folder: TableFolder, batch: pa.Table, held: pa.Table, rewrites: Sequence[Rewrite], found: Comparison
) -> Outcome:
    changes: dict[PartitionValues, Change] = {}
    added = np.concatenate([found.inserted, found.updated])
    if len(added):
        is_update = np.arange(len(added)) >= len(found.inserted)
        for place, chosen in places(folder.contract, batch.take(pa.array(added))).items():
            changes[place] = Change(
                added=content_of_hashes(found.batch_hashes[added][chosen]), updated=int(is_update[chosen].sum())
            )
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
        owners=_owners(folder, batch.take(pa.array(added)), held.take(pa.array(removed))),
    )


def _owners(folder: TableFolder, added: pa.Table, removed: pa.Table) -> tuple[OwnerChange, ...]:
    """Which owners have the most of these rows."""
    contract = folder.contract
    if contract.owner is None or not contract.partition_by:
        return ()
    counts: dict[tuple[str, str], list[int]] = {}
    by = [contract.partition_by[0], contract.owner]
    for which, rows in enumerate((added, removed)):
        counted = rows.select(by).group_by(by).aggregate([([], "count_all")])
        for partition, owner, number in zip(*(each.to_pylist() for each in counted.columns), strict=True):
            counts.setdefault((str(partition), str(owner)), [0, 0])[which] = number
    return biggest(
        OwnerChange(partition=partition, owner=owner, added=several[0], removed=several[1])
        for (partition, owner), several in counts.items()
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
            mark=folder.mark,
        )
        for place, chosen in places(folder.contract, changed).items()
    ]
