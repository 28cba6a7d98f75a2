"""Dagster's own launcher of runs, which also tells whether a run's process is still there.

Without it a run whose process went together with the code server that had started it counts as running for a day: it
keeps its slot of the pool, and its repositories are not asked for again. Dagster's monitoring asks, calls such a run
failed, and starts it once more.
"""

from dagster import DagsterRun, DefaultRunLauncher
from dagster._core.launcher import CheckRunHealthResult, WorkerStatus

from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.run_locks import is_abandoned


class WatchedRunLauncher(DefaultRunLauncher):
    """Runs are processes of the code server; each holds a lock while it lives."""

    @property
    def supports_check_run_worker_health(self) -> bool:
        return True

    def check_run_worker_health(self, run: DagsterRun) -> CheckRunHealthResult:
        launched = run.remote_job_origin is not None  # a command that was killed is begun again by who gave it
        if launched and is_abandoned(load_settings().lake, run.run_id):
            return CheckRunHealthResult(WorkerStatus.FAILED, "The process that carried it out is gone.")
        return CheckRunHealthResult(WorkerStatus.RUNNING)
