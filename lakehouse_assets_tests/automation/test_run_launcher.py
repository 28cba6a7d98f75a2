"""What the launcher tells monitoring of a run."""

from types import SimpleNamespace
from typing import Any

import pytest
from dagster import DagsterEventType, DagsterInstance
from dagster._core.events import DagsterEvent
from dagster._core.instance.ref import InstanceRef
from dagster._core.launcher import WorkerStatus
from dagster._core.test_utils import create_run_for_test

from lakehouse_assets.automation import run_launcher
from lakehouse_assets.automation.run_launcher import WatchedRunLauncher
from lakehouse_assets.core.settings import PROJECT_ROOT, Settings
from lakehouse_assets.lake.run_locks import begin, end


@pytest.mark.parametrize("launched", [True, False])
def test_a_run_that_was_launched_has_failed_if_its_process_is_gone_and_a_command_s_is_left_to_who_gave_it(
    settings: Settings, launched: bool
):
    run: Any = SimpleNamespace(run_id="r", remote_job_origin=object() if launched else None)
    launcher = WatchedRunLauncher()
    instance = DagsterInstance.ephemeral()
    launcher.register_instance(instance)  # weakly
    assert launcher.check_run_worker_health(run).status == WorkerStatus.RUNNING  # nothing is known of it yet
    begin(settings.locks, "r")
    assert launcher.check_run_worker_health(run).status == WorkerStatus.RUNNING
    end(settings.locks, "r")
    (settings.locks / ".locks" / "runs" / "r").touch()  # as a kill leaves it
    wanted = WorkerStatus.FAILED if launched else WorkerStatus.RUNNING
    assert launcher.check_run_worker_health(run).status == wanted


def test_a_run_that_started_and_came_to_no_step_has_failed_after_a_while_unless_it_holds_its_lock(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    def asked(*, is_late: bool) -> WorkerStatus:
        monkeypatch.setattr(run_launcher, "FIRST_STEP_SECONDS", 0 if is_late else 60)
        return launcher.check_run_worker_health(run).status

    def report(kind: DagsterEventType) -> None:
        event = DagsterEvent(event_type_value=kind.value, job_name="sync", step_key="commits")
        instance.report_dagster_event(event, run_id=run.run_id)

    with DagsterInstance.ephemeral() as instance:
        launcher = WatchedRunLauncher()
        launcher.register_instance(instance)
        run: Any = SimpleNamespace(run_id=create_run_for_test(instance).run_id, remote_job_origin=object())
        assert asked(is_late=True) == WorkerStatus.RUNNING  # Dagster itself minds what has not started
        report(DagsterEventType.RUN_START)
        assert [asked(is_late=late) for late in (False, True)] == [WorkerStatus.RUNNING, WorkerStatus.FAILED]
        begin(settings.locks, run.run_id)
        assert asked(is_late=True) == WorkerStatus.RUNNING  # it waits for its repositories
        end(settings.locks, run.run_id)
        report(DagsterEventType.STEP_START)
        assert asked(is_late=True) == WorkerStatus.RUNNING


def test_the_project_s_instance_and_the_example_for_a_team_use_it(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    for folder in (PROJECT_ROOT, PROJECT_ROOT / "docs" / "deployment"):
        data = InstanceRef.from_dir(str(folder)).run_launcher_data
        assert data is not None
        assert data.class_name == "WatchedRunLauncher"
    with DagsterInstance.from_config(str(PROJECT_ROOT)) as instance:
        assert instance.run_launcher.supports_check_run_worker_health
        assert instance.run_monitoring_enabled
