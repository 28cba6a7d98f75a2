"""Runs that the command carries out itself."""

import gc
import os
import subprocess
import sys
import weakref

import psutil
from dagster import DagsterRunStatus

from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.cli.runs import end_orphaned_runs, running
from lakehouse_assets.core.collector import undisturbed
from lakehouse_assets.core.settings import Settings


def test_a_run_whose_command_was_killed_is_failed_and_one_that_is_under_way_is_not(settings: Settings):
    from lakehouse_assets.definitions import defs

    me = psutil.Process()
    owners = {"mine": f"{me.pid}@{me.create_time()}", "recycled": f"{os.getpid()}@1.0", "gone": "99999999@1.0"}
    job = defs.resolve_job_def("sync")
    with open_instance(settings) as instance:
        runs = {
            name: instance.create_run_for_job(
                job, tags={".dagster/lakehouse_process": owner}, status=DagsterRunStatus.STARTED
            ).run_id
            for name, owner in owners.items()
        }
        assert set(end_orphaned_runs(instance)) == {runs["recycled"], runs["gone"]}
        statuses = {name: instance.get_run_by_id(run_id) for name, run_id in runs.items()}
        assert {name: run.status for name, run in statuses.items() if run} == {
            "mine": DagsterRunStatus.STARTED,
            "recycled": DagsterRunStatus.FAILURE,
            "gone": DagsterRunStatus.FAILURE,
        }


class Left:
    """What nothing refers to but itself."""

    def __init__(self) -> None:
        self.itself = self


def test_what_a_command_leaves_behind_can_be_collected_in_the_next_one_of_the_process(settings: Settings):
    """What is loaded is kept out of garbage collections; what is not needed any more must not come to be."""
    with running(settings, Progress(quiet=True)):
        assert gc.get_freeze_count() > 0
    with undisturbed():
        left = weakref.ref(Left())
        with running(settings, Progress(quiet=True)):
            assert left() is not None
            gc.collect()
            assert left() is None


def test_a_command_ends_without_complaints_of_engines(settings: Settings):
    """DuckDB complains at the end of a process of what nobody could collect."""
    code = (
        "from lakehouse_assets.cli.progress import Progress\n"
        "from lakehouse_assets.cli.runs import running\n"
        "from lakehouse_assets.core.settings import load_settings\n"
        "from lakehouse_assets.lake.local_sql import local_sql\n"
        "with running(load_settings(), Progress(quiet=True)), local_sql() as connection:\n"
        "    assert connection.sql('SELECT 1 AS n').to_arrow_table().num_rows == 1\n"
    )
    env = os.environ | {"LAKEHOUSE_HOME": str(settings.home)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
