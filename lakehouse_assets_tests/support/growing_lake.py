"""A lake of several repositories that grows with their histories, and the proof that it is as a clean build is."""

import json
from collections import Counter
from collections.abc import Mapping
from itertools import count
from pathlib import Path

from lakehouse_assets.assets.freshness import SyncPlan, plan_sync
from lakehouse_assets.assets.removal import remove_repositories
from lakehouse_assets.cli.runs import RunResult
from lakehouse_assets.cli.sync import until_fresh
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.recipes.catalog import HEAD_TABLES
from lakehouse_assets_tests.support.graph_lake import GraphLake
from lakehouse_assets_tests.support.repos import registered


class GrowingLake(GraphLake):
    """Repositories are folders below `folder`, each with the name of its folder."""

    def __init__(self, folder: Path, *names: str) -> None:
        super().__init__(folder / "grown", [registered(folder / name, name=name) for name in names])
        self._folder = folder
        self._proofs = count()

    def register(self, name: str) -> None:
        known = registered(self._folder / name, name=name)
        Registry(self.lake).add([known])
        self.repositories[name] = known

    def remove(self, name: str, *, keep_rows: bool = False) -> None:
        remove_repositories(self.lakehouse.settings, [name], keep_rows=keep_rows)
        del self.repositories[name]

    def sync_and_prove(self, *names: str) -> None:
        """Sync the named repositories, then all as `sync --all` does, and compare every one with a clean build."""
        if names:
            self.sync(*names)
        sync_all(self)
        assert self.stale() == []
        self.prove()

    def prove(self) -> None:
        """Compare all repositories with a lake that has seen nothing but the present, in another order."""
        known = list(reversed(self.repositories.values()))
        clean = GraphLake(self._folder / f"clean {next(self._proofs)}", known)
        clean.sync(known[0].name)
        sync_all(clean)
        for contract in HEAD_TABLES:
            grown, built = (_rows(lake, contract, self.repositories) for lake in (self.lake, clean.lake))
            surplus, lacking = grown - built, built - grown
            assert (contract.name, [*surplus], [*lacking]) == (contract.name, [], [])


def sync_all(lake: GraphLake) -> None:
    """Do what `lakehouse sync --all` does, with this lake's own runs."""
    settings = lake.lakehouse.settings

    def run(plan: SyncPlan) -> list[RunResult]:
        lake.sync(*(each.repository.name for each in plan.stale))
        return []

    plan = plan_sync(settings, list(lake.repositories.values()))
    if plan.stale:
        until_fresh(settings, plan, run)


def _rows(lake: Lake, contract: TableContract, repos: Mapping[str, object]) -> Counter[str]:
    """Count the rows that tell of the present; of lives those that are open, but for when they began."""
    begun = ("life", "first_commit", "after_commit")
    return Counter(
        json.dumps({name: row[name] for name in row if name not in begun}, default=str, sort_keys=True)
        for row in lake.read(contract).to_pylist()
        if row["repo"] in repos and row.get("removed_in") is None
    )
