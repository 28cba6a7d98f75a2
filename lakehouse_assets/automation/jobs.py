"""The job that brings repositories up to their heads, and how its steps follow each other."""

from dagster import (
    AssetSelection,
    DefaultScheduleStatus,
    RunRequest,
    ScheduleEvaluationContext,
    define_asset_job,
    in_process_executor,
    schedule,
)

from lakehouse_assets.automation.checks import contract_checks, head_checks, integrity_checks
from lakehouse_assets.automation.verify_sample import verify_sample
from lakehouse_assets.plan.makes import ONLY_STALE
from lakehouse_assets.recipes.catalog import SYNC_GROUPS

# One process: its steps share one Spark session, which costs more to start than they take.
# A step that failed for some partitions made the others: the steps after it go on with those. What it did not make
# they refuse by themselves, since it is not up to its inputs (see `assets/derivations.py`).
EXECUTOR = in_process_executor.configured(
    {"step_dependency_config": {"require_upstream_step_success": False}}, name="in_process"
)

APPLY_JOB = define_asset_job(
    name="apply",
    description="Apply the SQL models in an environment.",
    selection=AssetSelection.groups("models"),
    executor_def=in_process_executor,
)
SYNC_JOB = define_asset_job(
    name="sync",
    description="Bring repositories up to their heads.",
    selection=AssetSelection.groups(*SYNC_GROUPS) - AssetSelection.checks(verify_sample),
    executor_def=EXECUTOR,
    tags=ONLY_STALE,
)

CHECK_JOB = define_asset_job(
    name="check_everything",
    description="Check all tables of all repositories, not only what a run wrote.",
    selection=AssetSelection.checks(contract_checks, integrity_checks, head_checks),
    executor_def=EXECUTOR,
    config={"ops": {name: {"config": {"full": True}} for name in ("contracts", "integrity")}},
)


@schedule(
    job=CHECK_JOB,
    cron_schedule="0 2 * * *",
    default_status=DefaultScheduleStatus.STOPPED,
    description="Checks all tables of all repositories at night.",
)
def nightly_checks(context: ScheduleEvaluationContext) -> RunRequest:
    """What an update cannot break by itself is found here: a run's own checks look at what it wrote."""
    return RunRequest(run_key=context.scheduled_execution_time.isoformat())
