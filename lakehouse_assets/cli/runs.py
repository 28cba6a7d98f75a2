"""Runs of the job `sync` in this process, recorded in the instance that the UI shows."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.core.diagnostics import listening
from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.core.settings import Settings

if TYPE_CHECKING:
    from dagster import DagsterInstance

    from lakehouse_assets.assets.freshness import SyncDecision


_OWNER_TAG = ".dagster/lakehouse_process"
"""Process id and birth time of the command that carries a run out; hidden in the UI by its prefix."""


_CHANGES = ("rows_inserted", "rows_updated", "rows_deleted")


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """What a run did: rows changed and seconds, by asset."""

    run_id: str
    repositories: tuple[str, ...]
    rows: dict[str, int]
    seconds: dict[str, float]


def run_sync(settings: Settings, decisions: "Sequence[SyncDecision]", progress: Progress) -> list[RunResult]:
    """Materialize the decisions' repositories."""
    with running(settings, progress) as run:
        return run({decision.repository.name: decision.head.commit_sha for decision in decisions})


@contextmanager
def running(settings: Settings, progress: Progress) -> Iterator[Callable[[Mapping[str, str]], list[RunResult]]]:
    """A function that brings repositories to the commits it gets by name, as often as it is called.

    It makes one run for each stretch of neighbouring partitions. The instance stays open between the calls.
    """
    with progress.step("load Dagster"):
        from lakehouse_assets.assets.partitions import PARTITIONS_NAME, align_partitions
        from lakehouse_assets.lake.registry import Registry
        from lakehouse_assets.lake.tables import Lake

    with open_instance(settings) as instance:
        end_orphaned_runs(instance)
        align_partitions(instance, Registry(Lake(settings.lake)).all())
        order = instance.get_dynamic_partitions(PARTITIONS_NAME)

        def run(heads: Mapping[str, str]) -> list[RunResult]:
            return [_run(instance, names, heads, progress) for names in contiguous(order, set(heads))]

        yield run


def end_orphaned_runs(instance: "DagsterInstance") -> list[str]:
    """Mark runs of commands that were killed as failed; Dagster would count them as running and hold back others."""
    import psutil
    from dagster import DagsterRunStatus, RunsFilter

    ended: list[str] = []
    for run in instance.get_runs(RunsFilter(statuses=[DagsterRunStatus.STARTED, DagsterRunStatus.STARTING])):
        owner = run.tags.get(_OWNER_TAG)
        if owner is None:
            continue
        pid, _, born = owner.partition("@")
        if not psutil.pid_exists(int(pid)) or str(psutil.Process(int(pid)).create_time()) != born:
            instance.report_run_failed(run, f"The `lakehouse` command that ran it (process {pid}) is gone.")
            ended.append(run.run_id)
    return ended


def _owner() -> str:
    import psutil

    me = psutil.Process()
    return f"{me.pid}@{me.create_time()}"


def contiguous(order: Sequence[str], wanted: set[str]) -> list[list[str]]:
    """The wanted keys in stretches without a gap: one Dagster run takes one range of partitions."""
    stretches: list[list[str]] = []
    gap = True
    for key in order:
        if key in wanted:
            if gap:
                stretches.append([])
            stretches[-1].append(key)
        gap = key not in wanted
    return stretches


def _run(instance: "DagsterInstance", names: list[str], heads: Mapping[str, str], progress: Progress) -> RunResult:
    from dagster import DagsterExecutionStepExecutionError, Failure

    from lakehouse_assets.definitions import defs

    job = defs.resolve_job_def("sync")
    tags = (
        {"dagster/partition": names[0]}
        if len(names) == 1
        else {"dagster/asset_partition_range_start": names[0], "dagster/asset_partition_range_end": names[-1]}
    )
    tags |= {_OWNER_TAG: _owner(), ".dagster/repository": "__repository__@lakehouse_assets"}
    chosen = {name: heads[name] for name in names}
    run_config: dict[str, Any] = {
        "ops": {"commits": {"config": {"heads": chosen}}},
        "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
    }
    started = time.time()
    try:
        with listening(progress.on_diagnostic):
            result = job.execute_in_process(instance=instance, tags=tags, run_config=run_config)
    except (DagsterExecutionStepExecutionError, Failure) as error:
        raise _ours(error) from error
    rows, seconds = _by_asset(instance, result.run_id)
    progress.done(f"run {result.run_id[:8]}", round(time.time() - started, 1))
    return RunResult(run_id=result.run_id, repositories=tuple(names), rows=rows, seconds=seconds)


def _ours(error: BaseException) -> BaseException:
    """The error of ours that a Dagster error wraps; the Dagster error itself if there is none."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, LakehouseError):
            return cause
        cause = cause.__cause__ or cause.__context__
    return error


def _by_asset(instance: "DagsterInstance", run_id: str) -> tuple[dict[str, int], dict[str, float]]:
    rows: dict[str, int] = {}
    seconds: dict[str, float] = {}
    for step in instance.get_run_step_stats(run_id):
        if step.start_time and step.end_time:
            seconds[step.step_key] = round(step.end_time - step.start_time, 2)
    for record in instance.get_records_for_run(run_id).records:
        event = record.event_log_entry.dagster_event
        if event is not None and event.is_step_materialization:
            metadata = event.step_materialization_data.materialization.metadata
            counts = [metadata[name].value for name in _CHANGES if name in metadata]
            rows[event.step_key or ""] = sum(count for count in counts if isinstance(count, int))
    return rows, seconds
