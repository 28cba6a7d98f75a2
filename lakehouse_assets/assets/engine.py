"""Where the run of an asset works (see `plan/engine.py`)."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager

from dagster import AssetExecutionContext

from lakehouse_assets.assets.freshness import plan_sync
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.run_engine import engine_of_run
from lakehouse_assets.lake.step_engine import StepEngine, step_engine
from lakehouse_assets.plan.engine import EngineChoice, Extent, choose_engine


@explained()
def engine_of(
    context: AssetExecutionContext, lakehouse: LakehouseResource, extent: Callable[[], Extent]
) -> EngineChoice:
    """What was decided for the run; the first of its steps decides by the extent of what is to be made."""
    wanted = lakehouse.settings.engine
    choice = engine_of_run(context.instance, context.run.run_id, lambda: choose_engine(wanted, extent()))
    assert choice is not None
    return choice


def engine_for_repositories(
    context: AssetExecutionContext,
    lakehouse: LakehouseResource,
    names: Sequence[str],
    heads: Mapping[str, str] | None = None,
) -> EngineChoice:
    """The engine of a run that brings repositories to `heads`; without these, to the commits that the lake has."""

    def extent() -> Extent:
        latest = lakehouse.ledger.latest([COMMITS])
        at = heads if heads is not None else {name: entry.cursor for (_, name), entry in latest.items() if entry.cursor}
        known = lakehouse.registry.all()
        repositories = [known[name] for name in names if name in known and name in at]
        return plan_sync(lakehouse.settings, repositories, to=at, fetch=False).extent

    return engine_of(context, lakehouse, extent)


@contextmanager
def steps_of_run(
    context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource, names: Sequence[str]
) -> Generator[tuple[StepEngine, EngineChoice], None, None]:
    """What runs relational steps in a run of these repositories."""
    choice = engine_for_repositories(context, lakehouse, names)
    with step_engine(choice.engine, lambda: spark.spark_session) as engine:
        yield engine, choice
