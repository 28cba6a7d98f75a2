"""The asset `commit_activity`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.activity.months import (
    commit_versions,
    month_batches,
    month_tasks,
    months_engine,
)
from lakehouse_assets.assets.options import table_asset
from lakehouse_assets.assets.run import made_by
from lakehouse_assets.contracts.commit_activity import COMMIT_ACTIVITY
from lakehouse_assets.lake.activity import DatedCommits
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.ledger import Entry
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.step_engine import StepEngine, step_engine
from lakehouse_assets.plan.derivation import Task
from lakehouse_assets.plan.makes import Makes
from lakehouse_assets.recipes.activity import COMMIT_ACTIVITY_RECIPE

if TYPE_CHECKING:
    from lakehouse_assets.lake.step_engine import Rows


@asset(**table_asset(COMMIT_ACTIVITY_RECIPE))
def commit_activity(
    context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource
) -> Iterator[Output[Batches]]:
    """One row per repository and month in which it has commits."""
    lakehouse.hold_months()
    tasks, untouched = stale_of(lakehouse, context.partition_keys, made_by(context))
    choice = months_engine(context, lakehouse, COMMIT_ACTIVITY, tasks)
    with step_engine(choice.engine, lambda: spark.spark_session) as engine:
        rows = counted(engine, lakehouse, tasks)
        yield Output(Batches(batches=month_batches(tasks, rows), untouched=untouched))


@explained()
def stale_of(
    lakehouse: LakehouseResource, months: Sequence[str], makes: Makes = "stale"
) -> tuple[list[Task], tuple[Entry, ...]]:
    latest = lakehouse.ledger.latest([COMMIT_ACTIVITY])
    return month_tasks(COMMIT_ACTIVITY_RECIPE, months, commit_versions(lakehouse.lake), latest, makes)


@explained()
def counted(engine: StepEngine, lakehouse: LakehouseResource, tasks: Sequence[Task]) -> "Rows":
    return DatedCommits(engine, lakehouse.lake).activity([task.key.partition for task in tasks])
