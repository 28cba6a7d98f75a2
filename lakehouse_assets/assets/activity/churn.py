"""The asset `churn`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.activity.months import (
    file_versions,
    month_batches,
    month_tasks,
    months_engine,
)
from lakehouse_assets.assets.options import table_asset
from lakehouse_assets.assets.run import made_by
from lakehouse_assets.contracts.churn import CHURN
from lakehouse_assets.contracts.commit_files import COMMIT_FILES
from lakehouse_assets.lake.activity import churn_of
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.ledger import Entry
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.step_engine import StepEngine, step_engine
from lakehouse_assets.plan.derivation import Task
from lakehouse_assets.plan.makes import Makes
from lakehouse_assets.recipes.activity import CHURN_RECIPE

if TYPE_CHECKING:
    from lakehouse_assets.lake.step_engine import Rows


@asset(**table_asset(CHURN_RECIPE))
def churn(
    context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource
) -> Iterator[Output[Batches]]:
    """One row per file and month in which commits on the first-parent line of the head changed it."""
    lakehouse.hold_months()
    tasks, untouched = stale_of(lakehouse, context.partition_keys, made_by(context))
    choice = months_engine(context, lakehouse, CHURN, tasks)
    with step_engine(choice.engine, lambda: spark.spark_session) as engine:
        rows = churned(engine, lakehouse, tasks)
        yield Output(Batches(batches=month_batches(tasks, rows), untouched=untouched))


@explained()
def stale_of(
    lakehouse: LakehouseResource, months: Sequence[str], makes: Makes = "stale"
) -> tuple[list[Task], tuple[Entry, ...]]:
    latest = lakehouse.ledger.latest([COMMIT_FILES, CHURN])
    return month_tasks(CHURN_RECIPE, months, file_versions(latest), latest, makes)


@explained()
def churned(engine: StepEngine, lakehouse: LakehouseResource, tasks: Sequence[Task]) -> "Rows":
    return churn_of(engine, lakehouse.lake, [task.key.partition for task in tasks])
