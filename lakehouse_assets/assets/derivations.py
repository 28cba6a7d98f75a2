"""What a run has to make of an asset that follows from others, and how it is handed over.

Invariant: only what could differ is made. A partition whose inputs are equal to what it was made from is left as it
is; one whose inputs changed in known places is made in these places; everything else is made as a whole. How far
the inputs were read is part of what is handed over, so that it is committed with the rows or not at all.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lakehouse_assets.assets.graph.derivation_list import tables_of
from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.change_feed import present_cursor, read_changes
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.ledger import Entry, EntryKey
from lakehouse_assets.lake.neighbours import NEIGHBOURS, NeighbourVersions
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.source_files import Selection
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.cursors import Cursor, Position
from lakehouse_assets.plan.derivation import Derivation, Task, task_for, wanted_key
from lakehouse_assets.plan.scope import Scopes, equal_scopes
from lakehouse_assets.plan.staleness import MaterializationKey

if TYPE_CHECKING:
    from lakehouse_assets.lake.making import Rows

MANY_OWNERS = 2_000
"""Beyond so many changed files a partition is made as a whole: naming them all would cost more than it saves."""

Make = Callable[[Selection], "Rows"]


@dataclass(frozen=True, kw_only=True)
class Work:
    """A stale partition with its whole key, and the files to be made anew; None for all of them."""

    key: MaterializationKey
    owners: tuple[str, ...] | None
    since: Mapping[str, str]
    """By partition the cursor that this goes on from; nothing where all is made."""


@explained()
def derived(lakehouse: LakehouseResource, derivation: Derivation, partitions: Sequence[str], make: Make) -> Batches:
    """The batches of a run; `make` gives the rows of a selection of files."""
    contract = CATALOG[derivation.asset]
    work, untouched = work_of(lakehouse, derivation, partitions)
    batches: list[Batch] = []
    for each in work:
        if each.owners is not None:
            rows = make(Selection(repos=(each.key.partition,), paths=each.owners))
            # A table without owners holds shared rows: it only takes in what it lacks.
            owners = each.owners if contract.owner else None
            batches.append(Batch(rows=rows, keys=(each.key,), owners=owners, since=each.since))
    whole = [each.key for each in work if each.owners is None]
    if whole:
        rows = make(Selection(repos=tuple(key.partition for key in whole)))
        batches.append(Batch(rows=rows, keys=tuple(whole)))
    return Batches(batches=tuple(batches), untouched=untouched)


def work_of(
    lakehouse: LakehouseResource, derivation: Derivation, partitions: Sequence[str], *, whole: bool = False
) -> tuple[list[Work], tuple[Entry, ...]]:
    """What is stale among the partitions, and the entries of what is not. With `whole`, all are made, from nothing."""
    latest = lakehouse.ledger.latest([COMMITS, *tables_of([derivation])])
    made = {key: entry for key, entry in latest.items() if not (whole and key[0] == derivation.asset)}
    tasks, untouched = tasks_of(derivation, partitions, made, NeighbourVersions(lakehouse.lake, latest))
    return [_read_on(lakehouse.lake, derivation, task, latest) for task in tasks], untouched


def tasks_of(
    derivation: Derivation,
    partitions: Iterable[str],
    latest: Mapping[EntryKey, Entry],
    neighbours: NeighbourVersions | None = None,
) -> tuple[list[Task], tuple[Entry, ...]]:
    tasks: list[Task] = []
    untouched: list[Entry] = []
    for partition in partitions:
        inputs = {
            name: neighbours.of(partition)
            if neighbours is not None and name == NEIGHBOURS
            else _input(latest, name, partition).data_version
            for name in derivation.inputs
        }
        stored = latest.get((derivation.asset, partition))
        task = task_for(wanted_key(derivation, partition, inputs), stored)
        if task is not None:
            tasks.append(task)
        elif stored is not None:
            untouched.append(stored)
    return tasks, tuple(untouched)


def _read_on(lake: Lake, derivation: Derivation, task: Task, latest: Mapping[EntryKey, Entry]) -> Work:
    """Read the inputs' changes since the task's cursors, and put the new cursors into its key."""
    partition = task.key.partition
    owners: set[str] | None = set() if task.since is not None and derivation.owner_columns else None
    cursors: dict[str, Cursor] = {}
    for name in derivation.inputs:
        if name == NEIGHBOURS:
            continue
        scopes = _scopes(name, partition)
        if owners is None or task.since is None:
            cursors[name] = present_cursor(lake, CATALOG[name], scopes)
            continue
        changes = read_changes(lake, CATALOG[name], task.since.get(name), scopes)
        cursors[name] = changes.cursor
        changed = {value for column in derivation.owner_columns for value in changes.values(column)}
        owners = None if changes.starts_over else owners | changed
    if owners is not None and len(owners) > MANY_OWNERS:
        owners = None
    files = "all" if owners is None else len(owners)
    report("derivation", derivation.asset, "files to make anew", partition=partition, files=files)
    commit = _input(latest, COMMITS.name, partition).cursor
    key = replace(task.key, cursor=Position(commit=commit, cursors=cursors).text)
    if owners is None:
        return Work(key=key, owners=None, since={})
    since = {partition: latest[derivation.asset, partition].cursor}
    return Work(key=key, owners=tuple(sorted(owners)), since=since)


def _scopes(name: str, partition: str) -> Scopes:
    columns = CATALOG[name].partition_by
    return equal_scopes(columns[0], [partition]) if columns else ()


def _input(latest: Mapping[EntryKey, Entry], name: str, partition: str) -> Entry:
    entry = latest.get((name, partition))
    if entry is None or not entry.cursor:
        raise LakeStateError(
            subject=f"{name} of {partition!r}",
            seen="it has never been materialized",
            why="what follows from it cannot be made",
            remedy=f"materialize `{name}` for this partition first, or run `lakehouse sync`",
        )
    return entry
