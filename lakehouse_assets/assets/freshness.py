"""What a sync would do, from git and the Delta log alone: no Dagster, no JVM."""

from collections.abc import Sequence
from dataclasses import dataclass

from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.staleness import Staleness, stale_because
from lakehouse_assets.sources.head import Head, resolve_head
from lakehouse_assets.sources.keys import GIT_TABLES, git_key
from lakehouse_assets.sources.mirror import refresh


@dataclass(frozen=True, kw_only=True)
class SyncDecision:
    """Where a repository stands and why it is stale; empty reasons mean fresh."""

    repository: Repository
    head: Head
    reasons: tuple[Staleness, ...]


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


def plan_sync(settings: Settings, repositories: Sequence[Repository], *, to: str | None = None) -> SyncPlan:
    """Fetch what is remote, find each head, compare with the ledger. One repository's error is its own."""
    stored = Ledger(Lake(settings.lake)).latest(GIT_TABLES)
    decisions: list[SyncDecision] = []
    errors: dict[str, LakehouseError] = {}
    for repository in repositories:
        try:
            refresh(repository, settings.mirrors, skip=settings.home)
            head = resolve_head(repository, settings.mirrors, to)
        except LakehouseError as error:
            errors[repository.name] = error
            continue
        reasons: list[Staleness] = []
        for contract in GIT_TABLES:
            entry = stored.get((contract.name, repository.name))
            wanted = git_key(contract, repository, head.commit_sha)
            reasons += stale_because(wanted, entry.key if entry else None)
        decisions.append(SyncDecision(repository=repository, head=head, reasons=tuple(reasons)))
    return SyncPlan(decisions=tuple(decisions), errors=errors)
