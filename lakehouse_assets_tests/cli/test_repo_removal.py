"""`lakehouse repo remove` beside syncs and runs of the same repository: one waits or is refused, nothing is left."""

import os
import subprocess
import threading
from pathlib import Path

import pytest
from dagster import DagsterInstance, JobExecutionResult, execute_job
from dagster._core.definitions.reconstruct import ReconstructableRepository

from lakehouse_assets.assets.removal import remove_repositories
from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.cli.runs import run_sync
from lakehouse_assets.cli.sync import sync_plan
from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.commit_files import COMMIT_FILES
from lakehouse_assets.core.effects import KILL_AT
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.repository_locks import OF_MONTHS, held
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import LAKEHOUSE, lakehouse, lakehouse_json, spawn
from lakehouse_assets_tests.support.repos import RepoBuilder

CODE = {"a.py": "import b\n\ndef f():\n    return b.g()\n", "b.py": "def g():\n    return 1\n"}


@pytest.fixture
def shop(settings: Settings, tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    repo.commit({**CODE})
    lakehouse("repo", "add", "shop", str(repo.path))
    return repo


def left_of(settings: Settings, name: str) -> dict[str, int]:
    """By table how many rows of the repository its files hold, read as any Delta reader does; without empty ones."""
    lake = Lake(settings.lake)
    found: dict[str, int] = {}
    for contract in CATALOG.values():
        if contract.partition_by == ("repo",) and lake.exists(contract):
            rows = lake.open(contract).to_pyarrow_table(columns=["repo"])["repo"].to_pylist()
            found[contract.name] = rows.count(name)
    return {table: rows for table, rows in found.items() if rows}


def under_way(settings: Settings, *words: str) -> subprocess.Popen[str]:
    env = os.environ | {"LAKEHOUSE_HOME": str(settings.home)}
    command = [str(LAKEHOUSE), *words]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def waits_for(process: subprocess.Popen[str]) -> str:
    """What the command says that it waits for, once it does."""
    assert process.stderr is not None
    end = threading.Timer(120, process.kill)
    end.start()
    try:
        for line in process.stderr:
            subject, found, _ = line.strip().partition(": waiting until another run or command is done with it")
            if found:
                return subject.removeprefix("! ")
    finally:
        end.cancel()
    raise AssertionError("it ended and never waited")


def run_as_the_ui_does(instance: DagsterInstance, name: str) -> JobExecutionResult:
    job = ReconstructableRepository.for_module("lakehouse_assets.definitions", "defs").get_reconstructable_job("sync")
    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    return execute_job(job, instance, tags={"dagster/partition": name}, run_config=quiet)


def refusals(result: JobExecutionResult) -> set[str]:
    """What the failed steps of a run say first."""
    failed = [event.step_failure_data.user_failure_data for event in result.all_events if event.is_step_failure]
    return {str(each and each.description).partition(". ")[0] for each in failed}


def test_a_removal_waits_for_the_sync_under_way_says_so_and_leaves_no_row(settings: Settings, shop: RepoBuilder):
    with held(settings.locks, ["shop"]):  # as a sync from its first step on
        removal = under_way(settings, "repo", "remove", "shop")
        assert waits_for(removal) == "shop"
        assert lakehouse("sync", "shop").exit_code == 0
        assert removal.poll() is None
        assert left_of(settings, "shop")["edges"] > 0
    said, _ = removal.communicate(timeout=120)
    assert (removal.returncode, said.splitlines()[0]) == (0, "removed shop")
    assert left_of(settings, "shop") == {}
    assert lakehouse_json("gc", "--dry-run") == []


def test_a_sync_that_finds_its_repository_removed_is_refused_by_name_and_writes_nothing(
    settings: Settings, tmp_path: Path
):
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "a.py").write_text(CODE["a.py"])
    lakehouse("repo", "add", "shop", str(folder))  # a plain directory: it has a mirror
    plan = sync_plan(settings, ("shop",))
    lakehouse("repo", "remove", "shop")
    (settings.mirrors / "shop.git").mkdir(exist_ok=True)  # by a look for its head that was under way
    (result,) = run_sync(settings, plan, Progress(quiet=True))
    assert (result.run_id, list(result.failed)) == ("", ["shop"])
    assert str(result.failed["shop"]).startswith("repository 'shop': it was removed after this sync had begun")
    assert left_of(settings, "shop") == {}
    assert lakehouse_json("gc", "--dry-run") == []


def test_the_others_of_a_sync_are_made_where_one_was_removed(settings: Settings, shop: RepoBuilder, tmp_path: Path):
    for name in ("bank", "till"):
        repo = RepoBuilder(tmp_path / name)
        repo.commit({**CODE})
        lakehouse("repo", "add", name, str(repo.path))
    plan = sync_plan(settings, ())
    lakehouse("repo", "remove", "bank")
    results = run_sync(settings, plan, Progress(quiet=True))
    assert [name for result in results for name in result.failed] == ["bank"]
    assert left_of(settings, "bank") == {}
    assert {each["name"]: each["fresh"] for each in lakehouse_json("status")["repositories"]} == {
        "shop": True,
        "till": True,
    }


def test_a_run_of_the_ui_whose_repository_was_removed_fails_by_name_without_a_traceback_of_dagster(
    settings: Settings, shop: RepoBuilder
):
    lakehouse("repo", "remove", "shop")
    with open_instance(settings) as instance:
        result = run_as_the_ui_does(instance, "shop")
    assert refusals(result) == {"repository 'shop': it was removed before this run could begin"}
    assert left_of(settings, "shop") == {}


def test_a_run_of_the_ui_is_refused_where_a_killed_removal_left_the_partition_to_dagster(
    settings: Settings, shop: RepoBuilder
):
    lakehouse("sync", "shop")
    remove_repositories(settings, ["shop"], keep_rows=True)  # and no more: Dagster still has the partition
    before = left_of(settings, "shop")
    shop.commit({"c.py": "def h():\n    return 2\n"})
    with open_instance(settings) as instance:
        result = run_as_the_ui_does(instance, "shop")
    assert refusals(result) == {"repository 'shop': it was removed before this run could begin"}
    assert left_of(settings, "shop") == before


@pytest.mark.slow
def test_a_removal_that_was_killed_keeps_nobody_waiting(settings: Settings, shop: RepoBuilder):
    lakehouse("sync", "shop")
    killed = spawn(settings, "repo", "remove", "shop", **{KILL_AT: "delete: before commit #3"})
    assert killed.returncode == -9
    with pytest.raises(BadInputError, match="'shop'"):
        lakehouse("sync", "shop")
    assert lakehouse("gc").exit_code == 0
    assert left_of(settings, "shop") == {}
    lakehouse("repo", "add", "shop", str(shop.path))
    assert lakehouse("sync", "shop").exit_code == 0
    assert left_of(settings, "shop")["edges"] > 0


@pytest.mark.slow
def test_a_removal_and_a_run_of_months_wait_for_each_other(settings: Settings, shop: RepoBuilder):
    """A month has rows of all repositories: one that was read before the removal would bring them back."""
    lakehouse("sync", "shop")
    with held(settings.locks, [OF_MONTHS]):
        activity = under_way(settings, "activity")
        assert waits_for(activity) == OF_MONTHS
    assert activity.wait(120) == 0
    lake = Lake(settings.lake)
    assert lake.open(COMMIT_FILES).to_pyarrow_table()["repo"].to_pylist() == ["shop"] * 2
    with held(settings.locks, [OF_MONTHS]):
        removal = under_way(settings, "repo", "remove", "shop")
        assert waits_for(removal) == OF_MONTHS
    assert removal.wait(120) == 0
    assert lake.open(COMMIT_FILES).to_pyarrow_table().num_rows == 0
    for process in (activity, removal):
        process.communicate()
