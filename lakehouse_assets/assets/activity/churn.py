"""The asset `churn`."""

from collections.abc import Iterator, Sequence

from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.activity.months import file_versions, month_asset, month_batches, month_tasks
from lakehouse_assets.contracts.churn import CHURN
from lakehouse_assets.contracts.commit_files import COMMIT_FILES
from lakehouse_assets.lake.activity import churn_of
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.resources import LakehouseResource


@asset(**month_asset(CHURN, {"sql", "deltalake"}), deps=["commit_files"])
def churn(context: AssetExecutionContext, lakehouse: LakehouseResource) -> Iterator[Output[Batches]]:
    """One row per file and month in which commits on the first-parent line of the head changed it."""
    lakehouse.hold_months()
    yield Output(churned(lakehouse, context.partition_keys))


@explained()
def churned(lakehouse: LakehouseResource, months: Sequence[str]) -> Batches:
    latest = lakehouse.ledger.latest([COMMIT_FILES, CHURN])
    tasks, untouched = month_tasks(CHURN, months, file_versions(latest), latest)
    stale = [task.key.partition for task in tasks]
    return Batches(batches=month_batches(tasks, churn_of(lakehouse.lake, stale)), untouched=untouched)
