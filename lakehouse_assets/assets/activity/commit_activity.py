"""The asset `commit_activity`."""

from collections.abc import Iterator, Sequence

from dagster import AllPartitionMapping, AssetDep, AssetExecutionContext, Output, asset

from lakehouse_assets.assets.activity.months import month_asset, month_batches, month_tasks
from lakehouse_assets.contracts.commit_activity import COMMIT_ACTIVITY
from lakehouse_assets.lake.activity import dated_commits
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.resources import LakehouseResource


@asset(
    **month_asset(COMMIT_ACTIVITY, {"sql", "deltalake"}),
    deps=[AssetDep("commits", partition_mapping=AllPartitionMapping())],
)
def commit_activity(context: AssetExecutionContext, lakehouse: LakehouseResource) -> Iterator[Output[Batches]]:
    """One row per repository and month in which it has commits."""
    lakehouse.hold_months()
    yield Output(counted(lakehouse, context.partition_keys))


@explained()
def counted(lakehouse: LakehouseResource, months: Sequence[str]) -> Batches:
    latest = lakehouse.ledger.latest([COMMIT_ACTIVITY])
    with dated_commits(lakehouse.lake) as commits:
        tasks, untouched = month_tasks(COMMIT_ACTIVITY, months, commits.versions(), latest)
        rows = commits.activity([task.key.partition for task in tasks])
    return Batches(batches=month_batches(tasks, rows), untouched=untouched)
