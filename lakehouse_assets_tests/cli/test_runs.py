"""Runs that the command carries out itself."""

import gc
import os

import psutil
from dagster import DagsterRunStatus

from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.cli.runs import end_orphaned_runs, running
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


def test_what_runs_keep_out_of_garbage_collections_is_given_back_at_their_end(settings: Settings):
    with running(settings, Progress(quiet=True)):
        assert gc.get_freeze_count() > 0
    assert gc.get_freeze_count() == 0
