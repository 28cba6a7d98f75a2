"""Runs of the job `sync` in this process, recorded in the instance that the UI shows."""

import atexit
import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.core.diagnostics import listening
from lakehouse_assets.core.errors import BadInputError, LakehouseError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.plan.batching import BatchLimits, batched
from lakehouse_assets.plan.makes import ONLY_STALE

if TYPE_CHECKING:
    from dagster import DagsterEvent, DagsterInstance, JobDefinition

    from lakehouse_assets.assets.freshness import SyncPlan
    from lakehouse_assets.plan.engine import EngineChoice


_OWNER_TAG = ".dagster/lakehouse_process"
"""Process id and birth time of the command that carries a run out; hidden in the UI by its prefix."""


_CHANGES = ("rows_inserted", "rows_updated", "rows_deleted")


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """What a run did: rows changed and seconds by step, and the partitions that it could not make.

    Its id is empty where nothing was left to run.
    """

    run_id: str
    repositories: tuple[str, ...]
    rows: dict[str, int]
    seconds: dict[str, float]
    failed: Mapping[str, LakehouseError]
    spark: str = ""
    """What Spark did in it; empty where there was none."""


Run = Callable[[Mapping[str, str]], list["RunResult"]]
"""Brings repositories to the commits that it gets by name."""


def run_sync(
    settings: Settings,
    plan: "SyncPlan",
    progress: Progress,
    *,
    limits: BatchLimits | None = None,
    assets: Sequence[str] = (),
) -> list[RunResult]:
    """Materialize what is stale, in batches; one that fails in part does not keep the next from being made."""
    from lakehouse_assets.sources.sizes import object_bytes

    heads = {decision.repository.name: decision.head.commit_sha for decision in plan.decisions}
    sizes = {each.repository.name: object_bytes(each.repository, settings.mirrors) for each in plan.stale}
    fresh = {decision.repository.name for decision in plan.fresh}
    with _opened(settings, progress) as (instance, order):
        batches = batched(order, sizes, fresh, limits or BatchLimits())
        results = _refused(settings, [name for name in sizes if name not in order])
        for number, names in enumerate(batches, 1):
            if len(batches) > 1:
                progress.say(f"batch {number} of {len(batches)}: {len(names)} repositories")
            results += _run_registered(settings, instance, names, heads, progress, assets, plan.engine(settings))
        return results


@contextmanager
def running(settings: Settings, progress: Progress) -> Iterator[Run]:
    """A function that makes one run for each stretch of neighbours, as often as it is called.

    The instance stays open between the calls.
    """
    with _opened(settings, progress) as (instance, order):

        def run(heads: Mapping[str, str]) -> list[RunResult]:
            batches = batched(order, dict.fromkeys(heads, 0), (), BatchLimits())
            results = _refused(settings, [name for name in heads if name not in order])
            for names in batches:
                results += _run_registered(settings, instance, names, heads, progress)
            for result in results:
                if not result.run_id:
                    raise next(iter(result.failed.values()))
            return results

        yield run


@contextmanager
def _opened(settings: Settings, progress: Progress) -> "Iterator[tuple[DagsterInstance, Sequence[str]]]":
    """The instance, rid of what commands that were killed left behind, and its partitions in their order."""
    with progress.step("load Dagster"):
        from lakehouse_assets.assets.partitions import align_partitions
        from lakehouse_assets.lake.registry import Registry
        from lakehouse_assets.lake.run_partitions import PARTITIONS_NAME
        from lakehouse_assets.lake.tables import Lake

    with open_instance(settings) as instance:
        end_orphaned_runs(instance)
        align_partitions(instance, Registry(Lake(settings.lake)).all())
        _freeze_what_was_loaded()
        yield instance, instance.get_dynamic_partitions(PARTITIONS_NAME)


@cache
def _freeze_what_was_loaded() -> None:
    """It stays: going through it at each full collection takes longer than a step.

    Once in a process, for what is frozen is never collected: an instance of a later command is to go after it.
    """
    gc.freeze()
    atexit.register(gc.unfreeze)  # DuckDB complains at the end of the process about what nobody could collect


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


def sync_job() -> "JobDefinition":
    from lakehouse_assets.definitions import defs

    return defs.resolve_job_def("sync")


def _run_registered(
    settings: Settings,
    instance: "DagsterInstance",
    names: Sequence[str],
    heads: Mapping[str, str],
    progress: Progress,
    assets: Sequence[str] = (),
    engine: "EngineChoice | None" = None,
) -> list[RunResult]:
    """Run those that are still registered once nobody else works on them; who was removed meanwhile is refused."""
    from lakehouse_assets.assets.partitions import align_partitions
    from lakehouse_assets.lake.registry import Registry
    from lakehouse_assets.lake.repository_locks import held
    from lakehouse_assets.lake.tables import Lake

    with listening(progress.on_diagnostic), held(settings.locks, names):
        known = Registry(Lake(settings.lake)).all()
        align_partitions(instance, known)
        refused = _refused(settings, [name for name in names if name not in known])
        left = [name for name in names if name in known]
        return [*refused, _run(instance, left, heads, progress, assets, engine)] if left else refused


def _refused(settings: Settings, names: Sequence[str]) -> list[RunResult]:
    """What becomes of repositories that were removed after the sync had looked at them."""
    from lakehouse_assets.assets.removal import forget_mirror

    failed: dict[str, LakehouseError] = {}
    for name in names:
        forget_mirror(settings, name)  # the look for its head may have made it again
        failed[name] = BadInputError(
            subject=f"repository {name!r}",
            seen="it was removed after this sync had begun",
            why="its rows would be left behind, of a repository that is not registered",
            remedy="nothing, if it is to be gone; else register it again with `lakehouse repo add`, and sync",
        )
    return [RunResult(run_id="", repositories=(), rows={}, seconds={}, failed=failed)] if failed else []


def _run(
    instance: "DagsterInstance",
    names: Sequence[str],
    heads: Mapping[str, str],
    progress: Progress,
    assets: Sequence[str] = (),
    engine: "EngineChoice | None" = None,
) -> RunResult:
    """One run. What failed as a whole is raised, and what the only repository asked for met; others are told of.

    Without an engine the first step decides on one.
    """
    from dagster import AssetKey, execute_job
    from dagster._core.definitions.assets.job.asset_job import IMPLICIT_ASSET_JOB_NAME
    from dagster._core.definitions.reconstruct import ReconstructableRepository

    from lakehouse_assets.lake.run_engine import SPARK_TAG, engine_tags
    from lakehouse_assets.lake.run_partitions import range_tags

    tags = {"dagster/partition": names[0]} if len(names) == 1 else range_tags(names)
    tags |= engine_tags(engine) if engine is not None else {}
    tags |= ONLY_STALE
    tags |= {_OWNER_TAG: _owner(), ".dagster/repository": "__repository__@lakehouse_assets"}
    chosen = {name: heads[name] for name in names}
    run_config: dict[str, Any] = {
        "ops": {} if assets and "commits" not in assets else {"commits": {"config": {"heads": chosen}}},
        "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
    }
    repository = ReconstructableRepository.for_module("lakehouse_assets.definitions", "defs")
    started = time.time()
    expected = len(assets or sync_job().asset_layer.selected_asset_keys)
    with progress.tables(expected):
        # Not `execute_in_process`: that has an executor of its own, which stops at the first step that failed.
        result = execute_job(
            repository.get_reconstructable_job(IMPLICIT_ASSET_JOB_NAME if assets else sync_job().name),
            instance,
            tags=tags,
            run_config=run_config,
            asset_selection=[AssetKey(name) for name in assets] or None,
        )
    failed = {} if result.success else _errors(result.all_events)
    if len(heads) == 1:
        for error in failed.values():
            raise error
    rows, seconds = _by_asset(instance, result.run_id)
    gc.collect()  # what a run leaves in cycles holds tables and results of engines; what was loaded is not looked at
    run = instance.get_run_by_id(result.run_id)
    spark = run.tags.get(SPARK_TAG, "") if run is not None else ""
    progress.done(f"run {result.run_id[:8]}", round(time.time() - started, 1), spark)
    return RunResult(
        run_id=result.run_id, repositories=tuple(names), rows=rows, seconds=seconds, failed=failed, spark=spark
    )


def _errors(events: "Sequence[DagsterEvent]") -> dict[str, LakehouseError]:
    """By partition its first error. Raises what concerns all of them; what is no error of ours only if none is."""
    from lakehouse_assets.lake.failures import errors_in

    failed: dict[str, LakehouseError] = {}
    foreign: list[str] = []
    for event in events:
        if event.is_step_failure:
            told = event.step_failure_data.user_failure_data
            errors = errors_in(told.metadata) if told is not None else {}
            if "" in errors:
                raise errors[""]
            if not errors and event.step_failure_data.error is not None:
                foreign.append(event.step_failure_data.error.to_string())
            failed = {**errors, **failed}
        elif event.is_job_failure and not failed:
            error = event.job_failure_data.error
            foreign.append(str(event.message) if error is None else error.to_string())
    if foreign and not failed:
        raise RuntimeError(foreign[0])
    return failed


def _by_asset(instance: "DagsterInstance", run_id: str) -> tuple[dict[str, int], dict[str, float]]:
    """Rows changed and seconds by step; each write is an observation."""
    from dagster import DagsterEventType

    rows: dict[str, int] = {}
    seconds: dict[str, float] = {}
    for step in instance.get_run_step_stats(run_id):
        if step.start_time and step.end_time:
            seconds[step.step_key] = round(step.end_time - step.start_time, 2)
            rows[step.step_key] = 0
    for record in instance.get_records_for_run(run_id, of_type=DagsterEventType.ASSET_OBSERVATION).records:
        event = record.event_log_entry.dagster_event
        if event is not None and event.step_key in rows:
            metadata = event.asset_observation_data.asset_observation.metadata
            counts = [metadata[name].value for name in _CHANGES if name in metadata]
            rows[event.step_key] += sum(count for count in counts if isinstance(count, int))
    return rows, seconds
