"""The daemon, the code server or a run is killed in the middle of a backfill, or there are two daemons: it is completed
all the same."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets.contracts.edges import EDGES
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.settings import PROJECT_ROOT, Settings, load_settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.faults.conftest import Fault, FaultNamed
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.graph_lake import sync_assets
from lakehouse_assets_tests.support.processes import Processes, team_processes
from lakehouse_assets_tests.support.repos import RepoBuilder

pytestmark = pytest.mark.slow

NAMES = ("r0", "r1", "r2", "r3")
DONE_SECONDS = 420
"""A run that lost its process is noticed within half a minute, and started anew at the next ticks."""


@pytest.fixture
def settings_of_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("LAKEHOUSE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DAGSTER_HOME", str(PROJECT_ROOT))
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    return load_settings()


@pytest.fixture
def processes(settings_of_processes: Settings, tmp_path: Path) -> Iterator[Processes]:
    for name in NAMES:
        repo = RepoBuilder(tmp_path / name)
        repo.commit({f"{name}/{number}.py": f"def f{number}():\n    return {number}\n" for number in range(30)})
        lakehouse("repo", "add", name, str(repo.path))
    with team_processes(settings_of_processes, tmp_path) as processes:
        yield processes


def begun(processes: Processes, lake: Lake) -> tuple[str, str]:
    """A backfill of all repositories with its run, once it has written something and before it has written all."""
    backfill = processes.api.backfill([key.path[-1] for each in sync_assets() for key in each.keys], NAMES)
    deadline = time.monotonic() + DONE_SECONDS
    runs: list[dict[str, Any]] = []
    while not (runs and lake.exists(SNAPSHOTS)):
        assert time.monotonic() < deadline, "the backfill did not begin"
        time.sleep(0.2)
        runs = processes.api.backfill_state(backfill)["runs"]
    assert not lake.exists(EDGES), "the run was quicker than the test: let it have more to do"
    return backfill, runs[0]["id"]


def see_complete(processes: Processes, backfill: str, tried: Fault) -> None:
    """The backfill has succeeded, everything is fresh, and the rows are those of a clean build."""
    end = processes.api.backfill_end(backfill, DONE_SECONDS)
    assert end["status"] == "COMPLETED_SUCCESS", end
    assert processes.api.partitions("graph_versions")["materialized"] == list(NAMES)
    assert all(each["fresh"] for each in lakehouse_json("status")["repositories"])
    for name in NAMES:
        assert lakehouse("verify", name).exit_code == 0
    tried.survived()


def test_a_backfill_is_completed_after_its_daemon_was_killed(
    processes: Processes, settings_of_processes: Settings, fault: FaultNamed
):
    tried = fault("kill -9 of the daemon in a backfill")
    backfill, _ = begun(processes, Lake(settings_of_processes.lake))
    processes.kill("daemon")
    processes.start("daemon")
    see_complete(processes, backfill, tried)


def test_a_backfill_under_two_daemons_writes_each_row_once(
    processes: Processes, settings_of_processes: Settings, fault: FaultNamed
):
    tried = fault("two daemons")
    processes.start("another daemon")
    backfill, _ = begun(processes, Lake(settings_of_processes.lake))
    see_complete(processes, backfill, tried)


def test_a_backfill_is_completed_after_its_run_was_killed(
    processes: Processes, settings_of_processes: Settings, fault: FaultNamed
):
    tried = fault("kill -9 of a run in a backfill")
    backfill, run = begun(processes, Lake(settings_of_processes.lake))
    os.kill(processes.api.run_process(run), signal.SIGKILL)
    see_complete(processes, backfill, tried)


def test_a_backfill_is_completed_after_the_code_server_was_killed_with_the_run_that_it_had_started(
    processes: Processes, settings_of_processes: Settings, fault: FaultNamed
):
    tried = fault("kill -9 of the code server in a backfill")
    backfill, run = begun(processes, Lake(settings_of_processes.lake))
    processes.kill("code server", with_children=True)
    assert processes.api.ask("query ($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }", id=run) == {
        "status": "STARTED"  # nobody is left to say that it is not
    }
    processes.start("code server")
    see_complete(processes, backfill, tried)
