"""Syncs for repositories whose head has moved: a sensor that watches, and an hourly schedule."""

from collections.abc import Iterator

from dagster import (
    DefaultScheduleStatus,
    DefaultSensorStatus,
    RunRequest,
    ScheduleEvaluationContext,
    SensorEvaluationContext,
    SkipReason,
    schedule,
    sensor,
)

from lakehouse_assets.assets.freshness import SyncPlan, plan_sync
from lakehouse_assets.automation.jobs import SYNC_JOB
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.tables import Lake


@sensor(
    job=SYNC_JOB,
    minimum_interval_seconds=60,
    default_status=DefaultSensorStatus.STOPPED,
    description="Requests a sync of every repository whose head, settings or code moved.",
)
def new_heads(context: SensorEvaluationContext) -> Iterator[RunRequest | SkipReason]:
    """The run key names repository and commit, so that a head asks for one run however often it is seen."""
    yield from _requests(_plan(context))


@schedule(
    job=SYNC_JOB,
    cron_schedule="0 * * * *",
    default_status=DefaultScheduleStatus.STOPPED,
    description="Syncs every stale repository at the full hour.",
)
def hourly_sync(context: ScheduleEvaluationContext) -> Iterator[RunRequest | SkipReason]:
    """The same requests as the sensor's, for those who prefer a fixed beat."""
    yield from _requests(_plan(context))


def _plan(context: SensorEvaluationContext | ScheduleEvaluationContext) -> SyncPlan:
    settings = load_settings()
    plan = plan_sync(settings, list(Registry(Lake(settings.lake)).all().values()))
    for name, error in plan.errors.items():
        context.log.warning(f"{name} was left out: {error}")
    return plan


def _requests(plan: SyncPlan) -> Iterator[RunRequest | SkipReason]:
    if not plan.stale:
        yield SkipReason(f"{len(plan.fresh)} repositories are fresh, {len(plan.errors)} could not be read")
    for decision in plan.stale:
        name = decision.repository.name
        reasons = ",".join(sorted({f"{reason.part}={reason.new}" for reason in decision.reasons}))
        yield RunRequest(
            run_key=f"{name}@{decision.head.commit_sha}:{reasons}",
            partition_key=name,
            run_config={"ops": {"commits": {"config": {"heads": {name: decision.head.commit_sha}}}}},
        )
