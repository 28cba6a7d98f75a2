"""Runs for repositories that are stale: a sensor that watches, and schedules with a fixed beat.

Why a sensor, and no automation condition: Dagster's conditions compare with their own last tick, as in
`code_version_changed`, or with events of runs, so that what happened while the daemon was down, or came with a
deployment, is missed, and they know nothing of git. The stored keys know all of it: what is stale is found by comparing
them with what they should be (`assets/freshness.py`, as `lakehouse status` does), however long ago it became so.

A burst of pushes is one update: a repository with a run under way or in the queue is not asked for, and a run reads the
newest head when it starts. What came later is seen by the next look.
"""

import time
from collections.abc import Callable, Mapping, Sequence

from dagster import (
    DagsterInstance,
    DagsterRun,
    DagsterRunStatus,
    DefaultScheduleStatus,
    DefaultSensorStatus,
    RunRequest,
    RunsFilter,
    ScheduleEvaluationContext,
    SensorEvaluationContext,
    SensorResult,
    SkipReason,
    schedule,
    sensor,
)

from lakehouse_assets.assets.freshness import SyncDecision, SyncPlan, plan_sync
from lakehouse_assets.assets.partitions import align_partitions
from lakehouse_assets.automation.jobs import SYNC_JOB
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.core.hashing import json_fingerprint
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.run_partitions import PARTITIONS_NAME, partitions_of_run, range_tags
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.asking import Asked, Watch, asked_again, is_due, read_watch, rotated, state_of
from lakehouse_assets.plan.batching import BatchLimits, batched
from lakehouse_assets.plan.staleness import Staleness
from lakehouse_assets.sources.sizes import object_bytes

_UNDER_WAY = (
    DagsterRunStatus.QUEUED,
    DagsterRunStatus.NOT_STARTED,
    DagsterRunStatus.STARTING,
    DagsterRunStatus.STARTED,
    DagsterRunStatus.CANCELING,
)
BECAUSE_TAG = "lakehouse/because"
"""On a run that was asked for: why each of its repositories was stale."""
_LONGEST_TAG = 250
_AT_ONCE = 100
_LOOK_SECONDS = 30.0
"""Dagster ends a tick after a minute; remote repositories that were not looked at by then are the next tick's first."""


@sensor(
    job=SYNC_JOB,
    minimum_interval_seconds=30,
    default_status=DefaultSensorStatus.STOPPED,
    description="Requests runs for exactly the repositories whose head, code, settings or policy moved, in batches.",
)
def new_heads(context: SensorEvaluationContext) -> SensorResult:
    """What was asked for is kept as the sensor's cursor, which Dagster commits with the requests of a tick."""
    settings, watch, now = load_settings(), read_watch(context.cursor), time.time()
    known = Registry(Lake(settings.lake)).all()
    align_partitions(context.instance, known)
    busy = repositories_under_way(context.instance)
    idle = [name for name in rotated(known, watch.after) if name not in busy]
    plan, looked = _look(settings, known, idle)
    for name, error in plan.errors.items():
        context.log.warning(f"{name} was left out: {error}")
    states = {each.repository.name: state_of(each.head.commit_sha, each.reasons) for each in plan.stale}
    due = [each for each in plan.stale if _is_due(watch, each, states, now)]
    fresh = {each.repository.name for each in plan.fresh}
    asked = {name: each for name, each in watch.asked.items() if name in known and name not in fresh}
    asked |= {
        each.repository.name: asked_again(watch.asked.get(each.repository.name), states[each.repository.name], now)
        for each in due
    }
    requests = _requests(context.instance, settings, due, fresh, asked)
    after = looked[-1] if looked and len(looked) < len(idle) else ""
    return SensorResult(
        run_requests=requests,
        skip_reason=None if requests else SkipReason(_told(plan, len(busy), len(plan.stale))),
        cursor=Watch(asked=asked, after=after).text,
    )


@schedule(
    job=SYNC_JOB,
    cron_schedule="0 * * * *",
    default_status=DefaultScheduleStatus.STOPPED,
    description="Syncs every stale repository at the full hour, also those whose last run failed.",
)
def hourly_sync(context: ScheduleEvaluationContext) -> list[RunRequest] | SkipReason:
    """The sensor's requests without its memory, for those who prefer a fixed beat."""
    return _all_stale(context, lambda reason: True)


@schedule(
    job=SYNC_JOB,
    cron_schedule="0 3 * * 0",
    default_status=DefaultScheduleStatus.STOPPED,
    description="Extracts anew, on Sundays, what an older version of an extractor made.",
)
def weekly_extraction(context: ScheduleEvaluationContext) -> list[RunRequest] | SkipReason:
    """For those who sync by hand or by commit: a deployment with new extractors is worked off when nobody waits."""
    return _all_stale(context, lambda reason: (reason.asset, reason.part) == (EXTRACTS.name, "code_version"))


def _all_stale(
    context: ScheduleEvaluationContext, counts: Callable[[Staleness], bool]
) -> list[RunRequest] | SkipReason:
    """Requests for every repository that has a reason which counts."""
    settings = load_settings()
    known = Registry(Lake(settings.lake)).all()
    align_partitions(context.instance, known)
    busy = repositories_under_way(context.instance)
    plan = plan_sync(settings, [repository for name, repository in known.items() if name not in busy])
    for name, error in plan.errors.items():
        context.log.warning(f"{name} was left out: {error}")
    at = context.scheduled_execution_time.timestamp()
    due = [each for each in plan.stale if any(map(counts, each.reasons))]
    asked = {each.repository.name: Asked(state=each.head.commit_sha, times=1, at=at) for each in due}
    fresh = {each.repository.name for each in plan.fresh}
    requests = _requests(context.instance, settings, due, fresh, asked)
    return requests or SkipReason(_told(plan, len(busy), 0))


def repositories_under_way(instance: DagsterInstance) -> set[str]:
    """Repositories that a run has, or will have once it is started."""
    order = instance.get_dynamic_partitions(PARTITIONS_NAME)
    runs: Sequence[DagsterRun] = instance.get_runs(RunsFilter(statuses=list(_UNDER_WAY)))
    return {name for run in runs for name in partitions_of_run(run, order)}


def _look(settings: Settings, known: Mapping[str, Repository], names: Sequence[str]) -> tuple[SyncPlan, list[str]]:
    """What is stale among the names, as far as time allows, and which were looked at."""
    until = time.monotonic() + _LOOK_SECONDS
    plan, looked = SyncPlan(decisions=(), errors={}), list[str]()
    for start in range(0, len(names), _AT_ONCE):
        if time.monotonic() > until:
            break
        some = names[start : start + _AT_ONCE]
        found = plan_sync(settings, [known[name] for name in some])
        plan = SyncPlan(decisions=(*plan.decisions, *found.decisions), errors={**plan.errors, **found.errors})
        looked += some
    return plan, looked


def _is_due(watch: Watch, decision: SyncDecision, states: dict[str, str], now: float) -> bool:
    name = decision.repository.name
    return is_due(watch.asked.get(name), states[name], now)


def _because(decision: SyncDecision) -> str:
    """Give the first reason, with the value of before and the present one, and how many there are besides."""
    first, *others = decision.reasons
    before, now = first.differing
    besides = f", and {len(others)} more" if others else ""
    return f"{decision.repository.name}: {first.asset}: {first.part}: {before or 'nothing'} → {now}{besides}"


def _requests(
    instance: DagsterInstance,
    settings: Settings,
    due: Sequence[SyncDecision],
    fresh: set[str],
    asked: dict[str, Asked],
) -> list[RunRequest]:
    """A run for each batch. Its key names what was asked for: a tick that is repeated asks for nothing twice."""
    sizes = {each.repository.name: object_bytes(each.repository, settings.mirrors) for each in due}
    because = {each.repository.name: _because(each) for each in due}
    requests: list[RunRequest] = []
    for names in batched(instance.get_dynamic_partitions(PARTITIONS_NAME), sizes, fresh, BatchLimits()):
        wanted = [[name, asked[name].state, asked[name].times, asked[name].at] for name in names if name in sizes]
        key = json_fingerprint(wanted)
        tags = {BECAUSE_TAG: "; ".join(because[name] for name in names if name in because)[:_LONGEST_TAG]}
        if len(names) == 1:
            requests.append(RunRequest(run_key=key, partition_key=names[0], tags=tags))
        else:
            requests.append(RunRequest(run_key=key, tags=tags | range_tags(names)))
    return requests


def _told(plan: SyncPlan, busy: int, waiting: int) -> str:
    return (
        f"{len(plan.fresh)} repositories are fresh, {busy} have a run under way, {waiting} wait after a failed run, "
        f"{len(plan.errors)} could not be read"
    )
