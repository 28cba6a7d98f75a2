"""What a sync would do, from git and the Delta log alone: no Dagster, no JVM."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.ledger import Entry, EntryKey, Ledger
from lakehouse_assets.lake.neighbours import NEIGHBOURS, NONE, NeighbourVersions
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.derivation import Derivation, task_for, wanted_key
from lakehouse_assets.plan.engine import EngineChoice, Extent, choose_engine, together
from lakehouse_assets.plan.staleness import KeyPart, Staleness, stale_because
from lakehouse_assets.recipes.catalog import derivations, tables_of
from lakehouse_assets.recipes.git import GIT_TABLES, git_key
from lakehouse_assets.sources.head import Head, resolve_head
from lakehouse_assets.sources.mirror import git_directory, refresh
from lakehouse_assets.sources.snapshot import count_changes

_ANEW: tuple[KeyPart, ...] = ("code_version", "settings_hash", "policy_hash")
"""Parts of a key that no change feed tells of: what differs in one is made anew as a whole."""

State = Literal["fresh", "stale", "waiting"]
"""Of an asset's partition. waiting: it is as its inputs are, and these are stale themselves."""


@dataclass(frozen=True, kw_only=True)
class SyncDecision:
    """Where a repository stands and why it is stale; empty reasons mean fresh."""

    repository: Repository
    head: Head
    reasons: tuple[Staleness, ...]
    changed: int | None = 0
    """Files that differ between the head and what the lake has; None if that cannot be told."""

    @property
    def extent(self) -> Extent:
        """How much there is to do."""
        name = self.repository.name
        parts: dict[str, list[str]] = {}
        for reason in self.reasons:
            parts.setdefault(reason.part, []).append(reason.asset)
        first = tuple(f"{asset} of {name}" for asset in parts.get("never materialized", ()))
        anew = [f"{asset} of {name} ({part})" for part in _ANEW for asset in parts.get(part, ())]
        if self.changed is None:
            anew.append(f"{name}, whose earlier commit is gone")
        return Extent(first=first, anew=tuple(anew), changed=self.changed or 0)

    @property
    def states(self) -> dict[str, State]:
        """Of every asset of a sync, in the order of the data's way."""
        stale = {reason.asset for reason in self.reasons}
        found: dict[str, State] = {each.name: "stale" if each.name in stale else "fresh" for each in GIT_TABLES}
        for each in derivations():
            before = [found[name] for name in (*each.inputs, *each.after) if name in found]
            waits = any(state != "fresh" for state in before)
            found[each.asset] = "stale" if each.asset in stale else "waiting" if waits else "fresh"
        return found


@dataclass(frozen=True, kw_only=True)
class SyncPlan:
    """One decision per repository that could be looked at, and the error of each that could not."""

    decisions: tuple[SyncDecision, ...]
    errors: dict[str, LakehouseError]

    @property
    def stale(self) -> tuple[SyncDecision, ...]:
        return tuple(decision for decision in self.decisions if decision.reasons)

    @property
    def fresh(self) -> tuple[SyncDecision, ...]:
        return tuple(decision for decision in self.decisions if not decision.reasons)

    @property
    def extent(self) -> Extent:
        """How much there is to do for all of them together."""
        return together(each.extent for each in self.decisions)

    def engine(self, settings: Settings) -> EngineChoice:
        """Where its runs work, all of them."""
        return choose_engine(settings.engine, self.extent)

    def followed_by(self, later: "SyncPlan") -> "SyncPlan":
        """Both plans as one: what the later one found stale was stale from here on, whatever was thought before."""
        found = {each.repository.name: each for each in later.stale}
        decisions = (
            replace(each, reasons=each.reasons + found[each.repository.name].reasons)
            if each.repository.name in found
            else each
            for each in self.decisions
        )
        return SyncPlan(decisions=tuple(decisions), errors={**self.errors, **later.errors})


def plan_sync(
    settings: Settings, repositories: Sequence[Repository], *, to: Mapping[str, str] | None = None, fetch: bool = True
) -> SyncPlan:
    """Fetch what is remote, find each head, compare with the ledger. One repository's error is its own.

    `to` gives commits by repository, in place of the heads.
    """
    graph = derivations()
    lake = Lake(settings.lake)
    latest = Ledger(lake).latest([*GIT_TABLES, *tables_of(graph)])
    names = [repository.name for repository in repositories]
    neighbours = NeighbourVersions(lake, latest, Registry(lake).all(), names)
    decisions: list[SyncDecision] = []
    errors: dict[str, LakehouseError] = {}
    for repository in repositories:
        try:
            if fetch:
                refresh(repository, settings.mirrors, skip=settings.home)
            head = resolve_head(repository, settings.mirrors, (to or {}).get(repository.name))
        except LakehouseError as error:
            errors[repository.name] = error
            continue
        reasons = _git_reasons(repository, head, latest)
        reasons += _graph_reasons(repository, graph, latest, neighbours)
        changed = _changed_files(settings, repository, head, latest) if reasons else 0
        decisions.append(SyncDecision(repository=repository, head=head, reasons=tuple(reasons), changed=changed))
    return SyncPlan(decisions=tuple(decisions), errors=errors)


def _changed_files(
    settings: Settings, repository: Repository, head: Head, latest: Mapping[EntryKey, Entry]
) -> int | None:
    """How many files differ between the head and the oldest commit that a table of the files is of."""
    name = repository.name
    entries = (latest.get((table.name, name)) for table in (SNAPSHOTS, BLOBS))
    found = {entry.cursor for entry in entries if entry is not None and entry.cursor}
    counts = [count_changes(git_directory(repository, settings.mirrors), name, head, commit) for commit in found]
    return None if None in counts else max((count for count in counts if count is not None), default=0)


def heads_behind(settings: Settings, repositories: Sequence[Repository]) -> dict[str, tuple[str, str]]:
    """By repository the commit that its rows are of and the newest that is known here, where they differ."""
    latest = Ledger(Lake(settings.lake)).latest([COMMITS])
    behind: dict[str, tuple[str, str]] = {}
    for repository in repositories:
        entry = latest.get((COMMITS.name, repository.name))
        if entry is not None and entry.cursor:
            newest = resolve_head(repository, settings.mirrors).commit_sha
            if newest != entry.cursor:
                behind[repository.name] = (entry.cursor, newest)
    return behind


def _git_reasons(repository: Repository, head: Head, latest: Mapping[EntryKey, Entry]) -> list[Staleness]:
    reasons: list[Staleness] = []
    for contract in GIT_TABLES:
        entry = latest.get((contract.name, repository.name))
        key = git_key(contract, repository, head.commit_sha, boundary=head.boundary)
        reasons += stale_because(key, entry.key if entry else None)
    return reasons


def _graph_reasons(
    repository: Repository,
    graph: Sequence[Derivation],
    latest: Mapping[EntryKey, Entry],
    neighbours: NeighbourVersions,
) -> list[Staleness]:
    """Why tables of the graph are stale against what their inputs hold now; the run itself looks again."""
    reasons: list[Staleness] = []
    for each in graph:
        made = {name: latest.get((name, repository.name)) for name in each.inputs}
        inputs = {name: entry.data_version for name, entry in made.items() if entry is not None and entry.cursor}
        if NEIGHBOURS in each.inputs:
            inputs[NEIGHBOURS] = neighbours.of(repository.name)
        stored = latest.get((each.asset, repository.name))
        if len(inputs) < len(each.inputs):
            if stored is None:
                part = "never materialized"
                reasons.append(Staleness(asset=each.asset, partition=repository.name, part=part, old=None, new=""))
            continue
        task = task_for(wanted_key(each, repository.name, inputs), stored)
        reasons += [_telling(reason, neighbours) for reason in (task.reasons if task is not None else ())]
    return reasons


def _telling(reason: Staleness, neighbours: NeighbourVersions) -> Staleness:
    """Name the other repositories that differ, in place of one version for all of them."""
    if reason.part != "input_versions" or reason.old is None:
        return reason
    old, new = json.loads(reason.old), json.loads(reason.new)
    if old.get(NEIGHBOURS) == new.get(NEIGHBOURS):
        return reason
    before, now = neighbours.differing(reason.partition)
    return replace(
        reason, old=json_text(old | {NEIGHBOURS: before or NONE}), new=json_text(new | {NEIGHBOURS: now or NONE})
    )
