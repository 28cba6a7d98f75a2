"""A run as the bodies of assets see it: its partitions, the lake, where it works (`plan/engine.py`) and what it makes
(`plan/makes.py`)."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from dagster import AssetExecutionContext, Output

from lakehouse_assets.assets.freshness import plan_sync
from lakehouse_assets.assets.handing_over import handed_over
from lakehouse_assets.assets.partitions import repositories_of
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.run_engine import engine_of_run
from lakehouse_assets.lake.step_engine import StepEngine, step_engine
from lakehouse_assets.plan.engine import EngineChoice, Extent, choose_engine
from lakehouse_assets.plan.makes import MAKES_TAG, Makes, makes_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@explained()
def engine_of(
    context: AssetExecutionContext, lakehouse: LakehouseResource, extent: Callable[[], Extent]
) -> EngineChoice:
    """What was decided for the run; the first of its steps decides by the extent of what is to be made."""
    wanted = lakehouse.settings.engine
    choice = engine_of_run(context.instance, context.run.run_id, lambda: choose_engine(wanted, extent()))
    assert choice is not None
    return choice


@explained()
def made_by(context: AssetExecutionContext) -> Makes:
    """What the run makes; of one that makes what is fresh as well, its log and its tags say so."""
    makes = makes_of(context.run.tags)
    if makes == "everything":
        context.log.info(f"What is fresh is made again as a whole: the run has no tag {MAKES_TAG}=stale, as jobs have.")
        if MAKES_TAG not in context.run.tags:
            context.instance.add_run_tags(context.run.run_id, {MAKES_TAG: makes})
    return makes


class RepositoryRun:
    """A step of a run of repositories."""

    def __init__(
        self, context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource | None = None
    ) -> None:
        self._context = context
        self._spark = spark
        self.lakehouse = lakehouse
        self.lake = lakehouse.lake
        self.names = repositories_of(context)
        self.makes: Makes = made_by(context)

    @property
    def id(self) -> str:
        return self._context.run.run_id

    @cached_property
    def engine(self) -> EngineChoice:
        """Where it works; the first step to ask decides by what lacks at the commits that the lake has."""
        latest = self.lakehouse.ledger.latest([COMMITS])
        return self.engine_at({name: entry.cursor for (_, name), entry in latest.items() if entry.cursor})

    def engine_at(self, heads: Mapping[str, str]) -> EngineChoice:
        """Where a run works that brings repositories to these commits."""
        return engine_of(self._context, self.lakehouse, lambda: self._extent(heads))

    def _extent(self, heads: Mapping[str, str]) -> Extent:
        known = self.lakehouse.registry.all()
        repositories = [known[name] for name in self.names if name in known and name in heads]
        plan = plan_sync(self.lakehouse.settings, repositories, to=heads, fetch=False)
        if self.makes == "stale":
            return plan.extent
        chosen = self._context.run.asset_selection
        asked = {key.path[-1] for key in chosen} if chosen is not None else None
        again = tuple(
            f"{asset} of {each.repository.name} (launched by hand)"
            for each in plan.decisions
            for asset, state in each.states.items()
            if state == "fresh" and (asked is None or asset in asked)
        )
        return replace(plan.extent, anew=(*plan.extent.anew, *again))

    def session(self) -> "SparkSession":
        """The process's Spark session, started if nobody has yet."""
        assert self._spark is not None, "the asset does not ask for Spark"
        return self._spark.spark_session

    @contextmanager
    def steps(self) -> Generator[StepEngine, None, None]:
        """What runs relational steps in the run."""
        with step_engine(self.engine.engine, self.session) as engine:
            yield engine

    def handed_over(self, outputs: Batches | Iterable[tuple[str, Batches]]) -> Iterator[Output[Batches]]:
        """The outputs, as Dagster takes them."""
        return handed_over(outputs, of=len(self.names))

    def selected(self, names: Iterable[str]) -> list[str]:
        """Those of the outputs of a step with several that were asked for."""
        asked = {key.path[-1] for key in self._context.selected_asset_keys}
        return [name for name in names if name in asked]
