"""Dagster's own launcher of runs, which also tells whether a run's process is still there.

Without it a run whose process went together with the code server that had started it counts as running for a day: it
keeps its slot of the pool, and its repositories are not asked for again. Dagster's monitoring asks, calls such a run
failed, and starts it once more.

A run holds a lock from its first resource on. One that has started and has neither a lock nor a step is on the way
between the two, which takes moments: after minutes it is gone as well.
"""

import time

from dagster import DagsterEventType, DagsterRun, DefaultRunLauncher
from dagster._core.launcher import CheckRunHealthResult, WorkerStatus

from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.run_locks import is_abandoned, is_known

FIRST_STEP_SECONDS = 180
"""As long as Dagster gives a run to start."""


class WatchedRunLauncher(DefaultRunLauncher):
    """Runs are processes of the code server; each holds a lock while it lives."""

    @property
    def supports_check_run_worker_health(self) -> bool:
        return True

    def check_run_worker_health(self, run: DagsterRun) -> CheckRunHealthResult:
        if run.remote_job_origin is None:  # a command that was killed is begun again by who gave it
            return CheckRunHealthResult(WorkerStatus.RUNNING)
        locks = load_settings().locks
        if is_abandoned(locks, run.run_id):
            return CheckRunHealthResult(WorkerStatus.FAILED, "The process that carried it out is gone.")
        if not is_known(locks, run.run_id) and self._is_late(run.run_id):
            return CheckRunHealthResult(WorkerStatus.FAILED, "Its process did not come to a first step.")
        return CheckRunHealthResult(WorkerStatus.RUNNING)

    def _is_late(self, run_id: str) -> bool:
        """Whether the run has started a while ago and begun no step."""
        record = self._instance.get_run_record_by_id(run_id)
        if record is None or record.start_time is None or time.time() - record.start_time < FIRST_STEP_SECONDS:
            return False
        begun = self._instance.get_records_for_run(run_id, of_type=DagsterEventType.STEP_START, limit=1).records
        return not begun
