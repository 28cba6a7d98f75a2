"""The job that brings the tables of months up to the commits, and its schedule."""

from collections.abc import Collection

from dagster import (
    AssetSelection,
    DefaultScheduleStatus,
    RunRequest,
    ScheduleEvaluationContext,
    SkipReason,
    define_asset_job,
    schedule,
)

from lakehouse_assets.assets.activity.months import stale_months
from lakehouse_assets.assets.options import MONTHS_A_RUN
from lakehouse_assets.assets.partitions import MONTHS
from lakehouse_assets.automation.jobs import EXECUTOR
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.run_partitions import range_tags
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.makes import ONLY_STALE

ACTIVITY_JOB = define_asset_job(
    name="activity",
    description="Bring what is told of months up to the commits of all repositories.",
    selection=AssetSelection.groups("activity"),
    executor_def=EXECUTOR,
    tags=ONLY_STALE,
)


@schedule(
    job=ACTIVITY_JOB,
    cron_schedule="0 4 1 * *",
    default_status=DefaultScheduleStatus.STOPPED,
    description="Makes the month that has ended, and every other that is stale, on the first day of the next.",
)
def monthly_activity(context: ScheduleEvaluationContext) -> list[RunRequest] | SkipReason:
    """Runs over neighbours among the months: those between that are fresh are left as they are, at no cost."""
    stretches = stretched(stale_months(Lake(load_settings().lake)))
    at = context.scheduled_execution_time.isoformat()
    return [RunRequest(run_key=f"{at} {names[0]}", tags=range_tags(names)) for names in stretches] or SkipReason(
        "every month is fresh"
    )


def stretched(stale: Collection[str]) -> list[list[str]]:
    """The months from the first to the last that is stale, in as few runs as their memory allows."""
    if not stale:
        return []
    months = [month for month in MONTHS.get_partition_keys() if min(stale) <= month <= max(stale)]
    parts = [months[start : start + MONTHS_A_RUN] for start in range(0, len(months), MONTHS_A_RUN)]
    return [part for part in parts if any(month in stale for month in part)]
