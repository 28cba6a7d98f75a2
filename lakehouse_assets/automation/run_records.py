"""A run as Dagster recorded it, in the words of stories."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dagster import AssetCheckSeverity, DagsterEvent, DagsterEventType, DagsterInstance, DagsterRun, DagsterRunStatus
from dagster._core.definitions.assets.job.asset_job import IMPLICIT_ASSET_JOB_NAME

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.failures import problem_parts
from lakehouse_assets.stories.records import Check, Problem, Run, Status, Step

_PARTITION, _FIRST, _LAST = (
    "dagster/partition",
    "dagster/asset_partition_range_start",
    "dagster/asset_partition_range_end",
)
_ENDED: Mapping[DagsterRunStatus, Status] = {
    DagsterRunStatus.SUCCESS: "succeeded",
    DagsterRunStatus.FAILURE: "failed",
    DagsterRunStatus.CANCELED: "failed",
}
_LISTED = 500
"""Runs among which an abbreviated id is looked for."""


def find_run(instance: DagsterInstance, text: str | None) -> DagsterRun:
    """The run whose id begins with `text`; without it the latest. Refused if there is none, or more than one."""
    runs = instance.get_runs(limit=_LISTED if text else 1)
    found = [run for run in runs if run.run_id.startswith(text or "")]
    exact = instance.get_run_by_id(text) if text and not found else None
    if exact is not None:
        return exact
    if len(found) != 1:
        raise BadInputError(
            subject=f"run {text!r}" if text else "runs",
            seen=f"{len(found) or 'no'} run{'s begin' if len(found) > 1 else ' begins'} with it"
            if text
            else "none is there",
            why="there is nothing to tell of",
            remedy="give more of its id; the latest are " + ", ".join(run.run_id[:8] for run in runs[:5])
            if runs
            else "`lakehouse sync` makes one",
        )
    return found[0]


def latest_runs(instance: DagsterInstance, limit: int) -> list[Run]:
    """The latest runs as a list shows them: how they ended and what was asked, without reading what they told."""
    return [
        Run(
            run_id=record.dagster_run.run_id,
            job=_job(record.dagster_run),
            status=_ENDED.get(record.dagster_run.status, "running"),
            started=record.start_time,
            ended=record.end_time,
            asked=_asked(record.dagster_run),
            steps=(),
            checks=(),
            untouched={},
        )
        for record in instance.get_run_records(limit=limit)
    ]


def run_record(instance: DagsterInstance, run: DagsterRun) -> Run:
    record = instance.get_run_record_by_id(run.run_id)
    entries = [entry.event_log_entry for entry in instance.get_records_for_run(run.run_id).records]
    events = [entry.dagster_event for entry in entries if entry.dagster_event is not None]
    times = {(e.dagster_event.step_key, e.dagster_event.event_type): e.timestamp for e in entries if e.dagster_event}
    return Run(
        run_id=run.run_id,
        job=_job(run),
        status=_ENDED.get(run.status, "running"),
        started=record.start_time if record else None,
        ended=record.end_time if record else None,
        asked=_asked(run),
        steps=tuple(sorted(_steps(instance, run, events, times), key=_when)),
        checks=tuple(_checks(events)),
        untouched=_untouched(events),
        problem=_run_problem(events),
    )


def _job(run: DagsterRun) -> str:
    """Dagster has a job of its own, with a name for itself, for assets that were chosen one by one."""
    return "chosen assets" if run.job_name.startswith(IMPLICIT_ASSET_JOB_NAME) else run.job_name


def _asked(run: DagsterRun) -> dict[str, str]:
    """Partitions with the commits that the run's configuration names for them."""
    config: Any = run.run_config
    for key in ("ops", "commits", "config", "heads"):
        config = config.get(key, {}) if isinstance(config, Mapping) else {}
    heads = {str(name): str(commit) for name, commit in config.items()}
    if _PARTITION in run.tags:
        heads.setdefault(run.tags[_PARTITION], "")
    elif not heads and _FIRST in run.tags:
        heads = {f"{run.tags[_FIRST]} … {run.tags[_LAST]}": ""}
    return heads


def _steps(
    instance: DagsterInstance,
    run: DagsterRun,
    events: Sequence[DagsterEvent],
    times: Mapping[tuple[str | None, DagsterEventType], float],
) -> Iterator[Step]:
    """Those that make assets, and those that failed on the way to one."""
    assets: dict[str, list[str]] = {}
    for event in events:
        if event.event_type == DagsterEventType.ASSET_MATERIALIZATION_PLANNED and event.step_key and event.asset_key:
            assets.setdefault(event.step_key, []).append("/".join(event.asset_key.path))
    needs = _needs(instance, run)
    failed = {event.step_key: event for event in events if event.event_type == DagsterEventType.STEP_FAILURE}
    told = {**assets, **{str(name): assets.get(str(name), []) for name in failed}}
    for name in [*(name for name in needs if name in told), *(name for name in told if name not in needs)]:
        started = times.get((name, DagsterEventType.STEP_START))
        success = times.get((name, DagsterEventType.STEP_SUCCESS))
        ended = success or times.get((name, DagsterEventType.STEP_FAILURE))
        yield Step(
            name=name,
            assets=tuple(sorted(told[name])),
            needs=tuple(each for each in needs.get(name, ()) if each in told),
            status=_step_status(run, started=started, succeeded=success is not None, failed=name in failed),
            started=started,
            ended=ended,
            problem=_step_problem(failed[name]) if name in failed else None,
        )


def _when(step: Step) -> tuple[bool, float]:
    """Steps in the order in which they began; those that never did come last."""
    return step.started is None, step.started or 0.0


def _step_status(run: DagsterRun, *, started: float | None, succeeded: bool, failed: bool) -> Status:
    if succeeded:
        return "succeeded"
    if failed:
        return "failed"
    if run.status not in _ENDED:
        return "running"
    return "failed" if started is not None else "skipped"  # it began, and its process ended before it did


def _needs(instance: DagsterInstance, run: DagsterRun) -> dict[str, tuple[str, ...]]:
    """By step the steps it was planned to come after, in the order of the plan."""
    if run.execution_plan_snapshot_id is None:
        return {}
    plan = instance.get_execution_plan_snapshot(run.execution_plan_snapshot_id)
    return {
        step.key: tuple(sorted({handle.step_key for each in step.inputs for handle in each.upstream_output_handles}))
        for step in plan.steps
    }


def _step_problem(event: DagsterEvent) -> Problem:
    data = event.step_failure_data
    told = data.user_failure_data
    parts = problem_parts(told.metadata) if told is not None else None
    if parts is not None:
        return Problem(**parts)
    error = data.error
    while error is not None and error.cause is not None:
        error = error.cause
    seen = (told.description if told else None) or (error.message.strip() if error else "its step failed")
    return Problem(subject=f"step {event.step_key}", seen=seen)


def _run_problem(events: Sequence[DagsterEvent]) -> Problem | None:
    for event in events:
        if event.event_type in (DagsterEventType.RUN_FAILURE, DagsterEventType.RUN_CANCELED):
            return Problem(subject="run", seen=event.message or "it ended before its time")
    return None


def _checks(events: Sequence[DagsterEvent]) -> Iterator[Check]:
    for event in events:
        if event.event_type == DagsterEventType.ASSET_CHECK_EVALUATION:
            told = event.asset_check_evaluation_data
            yield Check(
                asset=told.asset_key.path[-1],
                name=told.check_name,
                passed=told.passed,
                description=told.description or "",
                is_warning=told.severity == AssetCheckSeverity.WARN,
            )


def _untouched(events: Sequence[DagsterEvent]) -> dict[str, int]:
    """What the IO manager told of partitions that were fresh."""
    found: dict[str, int] = {}
    for event in events:
        if event.is_step_materialization and event.asset_key is not None:
            metadata = event.step_materialization_data.materialization.metadata
            number = metadata["partitions_untouched"].value if "partitions_untouched" in metadata else 0
            if isinstance(number, int) and number:
                found["/".join(event.asset_key.path)] = number
    return found
