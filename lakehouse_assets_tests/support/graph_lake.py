"""A lake whose assets are called one after the other: no engine of Dagster around them, no JVM.

What the assets make and what is written is what a run does; only who calls them differs, and an update takes a second.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from dagster import AssetKey, AssetsDefinition

from lakehouse_assets.assets.freshness import plan_sync
from lakehouse_assets.assets.git.commits import CommitsConfig
from lakehouse_assets.assets.partitions import MONTHS, REPOSITORY_PARTITIONS
from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.definitions import defs
from lakehouse_assets.lake import bookkeeping
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.partition_scopes import partition_scope
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.run_engine import engine_tags
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.upsert import UpsertService
from lakehouse_assets.plan.engine import EngineChoice
from lakehouse_assets.plan.makes import ONLY_STALE
from lakehouse_assets.recipes.catalog import RECIPES, SYNC_GROUPS
from lakehouse_assets_tests.support.git_assets import NoSpark


@cache
def sync_assets() -> list[AssetsDefinition]:
    """All that a sync makes, each behind what it is made from."""
    graph = defs.resolve_asset_graph()
    nodes = map(graph.get, graph.toposorted_asset_keys)
    found = [node.assets_def for node in nodes if node.group_name in SYNC_GROUPS]
    return list({id(each): each for each in found}.values())


_RUN = SimpleNamespace(
    parent_run_id=None, tags=engine_tags(EngineChoice(engine="local", reason="these runs have no Spark"))
)
_INSTANCE = SimpleNamespace(get_run_by_id=lambda _: _RUN)
"""Of Dagster what decides where a run works."""


class _Home(LakehouseResource):
    """The lake in a folder, whatever the environment says."""

    home: str

    @property
    def settings(self) -> Settings:
        return load_settings({"LAKEHOUSE_HOME": self.home, "LAKEHOUSE_ENGINE": "local"})


class GraphLake:
    """A lake of registered repositories, brought up to their heads on demand."""

    def __init__(self, home: Path, repositories: Sequence[Repository]) -> None:
        self.lakehouse = _Home(home=str(home))
        self.lake = Lake(self.lakehouse.settings.lake)
        self.repositories = {each.name: each for each in repositories}
        Registry(self.lake).add(repositories)
        self.around: Callable[[AssetsDefinition], AbstractContextManager[None]] = lambda _: nullcontext()
        """Gives a scope that is open while an asset is made and written."""
        self._runs = 0

    def sync(
        self, *names: str, heads: Mapping[str, str] | None = None, until: str = "", writes: int | None = None
    ) -> str:
        """Bring neighbouring repositories to their heads in one run; without names, all. Gives the id of the run.

        With `until` it stops behind the asset of that name, with `writes` behind so many writes, as if killed.
        """
        self._runs += 1
        bookkeeping.begin(self.lake)
        if self._ran(sorted(names or self.repositories), heads or {}, until, writes):
            bookkeeping.end(self.lake)
        else:
            bookkeeping._kept.clear()  # with the process that is killed
        return self._run

    def _ran(self, chosen: Sequence[str], heads: Mapping[str, str], until: str, writes: int | None) -> bool:
        """Make and write all assets; whether the run came to its end."""
        for asset in sync_assets():
            with self.around(asset):
                for table, batch in self._made(asset, chosen, heads):
                    if writes is not None and not writes:
                        return False
                    self._write(table, batch)
                    writes = None if writes is None else writes - 1
            if until and until in {key.path[-1] for key in asset.keys}:
                return False
        return True

    def make(self, name: str, *, partitions: Sequence[str] = ()) -> None:
        """Make an asset that is not part of a sync, with those of its step; without partitions, of all repositories."""
        self._runs += 1
        bookkeeping.begin(self.lake)
        graph = defs.resolve_asset_graph()
        asset = next(graph.get(AssetKey(each.name)).assets_def for each in RECIPES.values() if each.step == name)
        with self.around(asset):
            for table, batch in self._made(asset, partitions or sorted(self.repositories), {}):
                self._write(table, batch)
        bookkeeping.end(self.lake)

    def _made(
        self, asset: AssetsDefinition, partitions: Sequence[str], heads: Mapping[str, str]
    ) -> Iterator[tuple[str, Batch]]:
        """What the asset hands over, each batch with its table."""
        given: dict[str, Any] = {
            "context": SimpleNamespace(
                partition_keys=partitions,
                run=SimpleNamespace(run_id=self._run, tags=ONLY_STALE, asset_selection=None),
                run_id=self._run,
                instance=_INSTANCE,
                selected_asset_keys=set(asset.keys),
            ),
            "lakehouse": self.lakehouse,
            "spark": NoSpark(),
            "config": CommitsConfig(heads=dict(heads)),
        }
        make: Any = asset.op.compute_fn
        wanted = signature(make.decorated_fn).parameters
        for output in make.decorated_fn(**{name: given[name] for name in wanted}):
            table = asset.key.path[-1] if len(asset.keys) == 1 else output.output_name
            yield from ((table, batch) for batch in output.value.batches)

    @property
    def _run(self) -> str:
        return f"run {self._runs}"

    def is_fresh(self) -> bool:
        return not self.stale()

    def stale(self) -> list[str]:
        plan = plan_sync(self.lakehouse.settings, list(self.repositories.values()))
        return [decision.repository.name for decision in plan.stale]

    def _write(self, table: str, batch: Batch) -> None:
        contract = CATALOG[table]
        definition = REPOSITORY_PARTITIONS if RECIPES[table].partitions == "repository" else MONTHS
        scopes = {key.partition: partition_scope(contract, definition, key.partition) for key in batch.keys}
        service = UpsertService(self.lake, spark=lambda: NoSpark().spark_session, executor="delta-rs")
        service.write(contract, batch, scopes, run_id=self._run)
