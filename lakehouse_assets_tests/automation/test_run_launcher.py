"""What the launcher tells monitoring of a run."""

from types import SimpleNamespace
from typing import Any

import pytest
from dagster import DagsterInstance
from dagster._core.instance.ref import InstanceRef
from dagster._core.launcher import WorkerStatus

from lakehouse_assets.automation.run_launcher import WatchedRunLauncher
from lakehouse_assets.core.settings import PROJECT_ROOT, Settings
from lakehouse_assets.lake.run_locks import begin, end


@pytest.mark.parametrize("launched", [True, False])
def test_a_run_that_was_launched_has_failed_if_its_process_is_gone_and_a_command_s_is_left_to_who_gave_it(
    settings: Settings, launched: bool
):
    run: Any = SimpleNamespace(run_id="r", remote_job_origin=object() if launched else None)
    launcher = WatchedRunLauncher()
    assert launcher.check_run_worker_health(run).status == WorkerStatus.RUNNING  # nothing is known of it yet
    begin(settings.lake, "r")
    assert launcher.check_run_worker_health(run).status == WorkerStatus.RUNNING
    end(settings.lake, "r")
    (settings.lake / ".locks" / "runs" / "r").touch()  # as a kill leaves it
    wanted = WorkerStatus.FAILED if launched else WorkerStatus.RUNNING
    assert launcher.check_run_worker_health(run).status == wanted


def test_the_project_s_instance_and_the_example_for_a_team_use_it(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    for folder in (PROJECT_ROOT, PROJECT_ROOT / "docs" / "deployment"):
        data = InstanceRef.from_dir(str(folder)).run_launcher_data
        assert data is not None
        assert data.class_name == "WatchedRunLauncher"
    with DagsterInstance.from_config(str(PROJECT_ROOT)) as instance:
        assert instance.run_launcher.supports_check_run_worker_health
        assert instance.run_monitoring_enabled
