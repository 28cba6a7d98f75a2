"""What a run has to make of an asset that follows from others, and how it is handed over.

Invariant: only what could differ is made. A partition whose inputs are equal to what it was made from is left as it
is; one whose inputs changed in known places is made in these places; everything else is made as a whole. How far
the inputs were read is part of what is handed over, so that it is committed with the rows or not at all.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lakehouse_assets.assets.run import RepositoryRun
from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.change_feed import present_cursor, read_changes
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.ledger import Entry, EntryKey, Ledger
from lakehouse_assets.lake.neighbours import NEIGHBOURS, NeighbourVersions
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.source_files import Selection
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.cursors import Cursor, Position
from lakehouse_assets.plan.derivation import Derivation, Task, sorted_out, wanted_key
from lakehouse_assets.plan.makes import Makes
from lakehouse_assets.plan.scope import Scopes, equal_scopes
from lakehouse_assets.plan.staleness import MaterializationKey
from lakehouse_assets.recipes.catalog import derived_inputs, tables_of
from lakehouse_assets.recipes.git import GIT_TABLES
from lakehouse_assets.recipes.recipe import Recipe

if TYPE_CHECKING:
    from lakehouse_assets.lake.making import Rows

_AT_COMMIT = (SNAPSHOTS.name, BLOBS.name)
"""Read from git, at the commit that `commits` has."""

Make = Callable[[Selection], "Rows"]


@dataclass(frozen=True, kw_only=True)
class Work:
    """A stale partition with its whole key, and the files to be made anew; None for all of them."""

    key: MaterializationKey
    owners: tuple[str, ...] | None
    since: Mapping[str, str]
    """By partition the cursor that this goes on from; nothing where all is made."""


@explained()
def derived(run: RepositoryRun, recipe: Recipe, make: Make) -> Batches:
    """The batches of a run; `make` gives the rows of a selection of files."""
    failed = FailedPartitions()
    much = run.engine.much_changed
    work, untouched = work_of(run.lakehouse, recipe.derivation, run.names, failed, much_changed=much, makes=run.makes)
    batches: list[Batch] = []
    for each in work:
        if each.owners is not None:
            with failed.alone(each.key.partition):
                rows = make(Selection(repos=(each.key.partition,), paths=each.owners))
                # A table without owners holds shared rows: it only takes in what it lacks.
                owners = each.owners if recipe.contract.owner else None
                batches.append(Batch(rows=rows, keys=(each.key,), owners=owners, since=each.since))
    whole = {each.key.partition: each.key for each in work if each.owners is None}

    def part(names: Sequence[str]) -> Batch:
        return Batch(rows=make(Selection(repos=tuple(names))), keys=tuple(whole[name] for name in names), part=part)

    batches += failed.in_parts(list(whole), part)
    return Batches(batches=tuple(batches), untouched=untouched, failed=failed)


def work_of(
    lakehouse: LakehouseResource,
    derivation: Derivation,
    partitions: Sequence[str],
    failed: FailedPartitions,
    *,
    whole: bool = False,
    much_changed: bool = False,
    makes: Makes = "stale",
) -> tuple[list[Work], tuple[Entry, ...]]:
    """What is stale among the partitions, and the entries of what is not. With `whole`, all are made, from nothing.

    Where `much_changed`, what is stale is made as a whole: naming what changed would cost more than it saves.
    """
    lake = lakehouse.lake
    latest = Ledger(lake).latest([*GIT_TABLES, *tables_of([derivation])])
    made = {key: entry for key, entry in latest.items() if not (whole and key[0] == derivation.asset)}
    neighbours = None
    if NEIGHBOURS in derivation.inputs:
        neighbours = NeighbourVersions(lake, latest, lakehouse.registry.all(), partitions)
    tasks, untouched = tasks_of(derivation, partitions, made, failed, neighbours, makes=makes)
    work: list[Work] = []
    now = _Cursors(lake)
    for task in tasks:
        with failed.alone(task.key.partition):
            work.append(_read_on(lake, derivation, replace(task, since=None) if much_changed else task, latest, now))
    return work, untouched


class _Cursors:
    """The tables' cursors as they are now, found once: what is made as a whole is read behind them."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._found: dict[str, Cursor] = {}

    def of(self, name: str) -> Cursor:
        if name not in self._found:
            self._found[name] = present_cursor(self._lake, CATALOG[name])
        return self._found[name]


def tasks_of(
    derivation: Derivation,
    partitions: Iterable[str],
    latest: Mapping[EntryKey, Entry],
    failed: FailedPartitions,
    neighbours: NeighbourVersions | None = None,
    *,
    makes: Makes = "stale",
) -> tuple[list[Task], tuple[Entry, ...]]:
    """What a run has to make among the partitions, and the entries of the others."""
    wanted: list[MaterializationKey] = []
    for partition in partitions:
        with failed.alone(partition):
            _refuse_unsettled(latest, [*derivation.inputs, *derivation.after], partition)
            inputs = {
                name: neighbours.of(partition)
                if neighbours is not None and name == NEIGHBOURS
                else _input(latest, name, partition).data_version
                for name in derivation.inputs
            }
            wanted.append(wanted_key(derivation, partition, inputs))
    return sorted_out(wanted, latest, makes)


def _read_on(lake: Lake, derivation: Derivation, task: Task, latest: Mapping[EntryKey, Entry], now: _Cursors) -> Work:
    """Read the inputs' changes since the task's cursors, and put the new cursors into its key."""
    partition = task.key.partition
    owners: set[str] | None = set() if task.since is not None and derivation.owner_columns else None
    cursors: dict[str, Cursor] = {}
    for name in derivation.inputs:
        if name == NEIGHBOURS:
            continue
        if owners is None or task.since is None:
            cursors[name] = now.of(name)
            continue
        changes = read_changes(lake, CATALOG[name], task.since.get(name), _scopes(name, partition))
        cursors[name] = changes.cursor
        changed = {value for column in derivation.owner_columns for value in changes.values(column)}
        owners = None if changes.starts_over else owners | changed
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


def _refuse_unsettled(latest: Mapping[EntryKey, Entry], names: Sequence[str], partition: str) -> None:
    """An asset that lags behind what it follows from tells of another commit: what is made of it would be of neither.

    A run that failed for a partition leaves it like that, and so does who materializes assets in another order.
    """
    waiting = [name for name in dict.fromkeys(names) if name != NEIGHBOURS]
    for name in waiting:
        entry = _input(latest, name, partition)
        made_from = json.loads(entry.input_versions)
        inputs = [each for each in derived_inputs(name) if each != NEIGHBOURS and each in made_from]
        behind = [each for each in inputs if made_from[each] != _input(latest, each, partition).data_version]
        if name in _AT_COMMIT and entry.cursor != _input(latest, COMMITS.name, partition).cursor:
            behind = [COMMITS.name]
        if behind:
            raise LakeStateError(
                subject=f"{name} of {partition!r}",
                seen=f"it is not up to {', '.join(behind)}",
                why="what follows from it would be of no commit at all",
                remedy=f"materialize `{name}` for this partition first, or run `lakehouse sync`",
            )
        waiting += [each for each in inputs if each not in waiting]


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
