"""One bad repository among several: it fails alone, in one run, and is named; the others are as they should be."""

from pathlib import Path

import pytest
from dagster import AssetKey, DagsterInstance, DagsterRunStatus

from lakehouse_assets.assets.derivations import tasks_of
from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.contracts.edges import EDGES
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.recipes.git import GIT_TABLES
from lakehouse_assets.recipes.graph import EXTRACTS_RECIPE
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.repos import RepoBuilder, git

NAMES = ("r0", "r1", "r2")


@pytest.fixture
def repos(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> dict[str, RepoBuilder]:
    """Three repositories with some content in common; a content that only `r1` has is corrupt."""
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    made: dict[str, RepoBuilder] = {}
    for name in NAMES:
        made[name] = RepoBuilder(tmp_path / name)
        made[name].commit({"same.py": "def same(): ...\n", f"{name}.py": f"def {name}(): ...\n"})
        lakehouse("repo", "add", name, str(made[name].path))
    made["r1"].corrupt(git(made["r1"].path, "rev-parse", "HEAD:r1.py").decode().strip())
    return made


def partitions_with(instance: DagsterInstance, asset: str) -> list[str]:
    return sorted(instance.get_materialized_partitions(AssetKey(asset)))


def test_the_others_are_made_in_one_run_and_the_bad_one_is_named_with_its_first_error(
    repos: dict[str, RepoBuilder], settings: Settings, lake: Lake
):
    result = lakehouse_json("sync", "--all")

    (run,) = result["runs"]
    assert run["repositories"] == list(NAMES)
    (error,) = result["errors"]
    assert (error["name"], "cannot be read" in error["seen"]) == ("r1", True)
    assert {row["repo"] for row in lakehouse_json("sql", "SELECT DISTINCT repo FROM graph_versions")} == {"r0", "r2"}
    with open_instance(settings) as instance:
        assert partitions_with(instance, "commits") == list(NAMES)
        assert partitions_with(instance, "snapshots") == ["r0", "r2"]
        assert partitions_with(instance, "edges") == ["r0", "r2"]
        (record,) = instance.get_run_records()
        assert record.dagster_run.status == DagsterRunStatus.FAILURE


def test_a_bad_repository_that_is_a_batch_of_its_own_keeps_no_other_batch_from_being_made(
    repos: dict[str, RepoBuilder],
):
    told = lakehouse("backfill", "--all", "--batch", "1")
    assert told.exit_code == 1
    assert {each["name"]: each["fresh"] for each in lakehouse_json("status")["repositories"]} == {
        "r0": True,
        "r1": False,
        "r2": True,
    }


def test_once_it_is_mended_only_the_bad_one_is_made(repos: dict[str, RepoBuilder], lake: Lake):
    lakehouse("sync", "--all")
    before = lake.open(EDGES).version()
    repos["r1"].commit({"r1.py": "def mended(): ...\n"})

    result = lakehouse_json("sync", "--all")

    assert ([run["repositories"] for run in result["runs"]], result["errors"]) == ([["r1"]], [])
    assert lake.open(EDGES).version() == before + 1


def test_what_lags_behind_its_inputs_is_not_built_upon(repos: dict[str, RepoBuilder], lake: Lake):
    lakehouse("sync", "--all")
    latest = Ledger(lake).latest([*GIT_TABLES, EXTRACTS])
    failed = FailedPartitions()
    tasks_of(EXTRACTS_RECIPE.derivation, NAMES, latest, failed)
    assert list(failed.errors) == ["r1"]
    assert "materialize `snapshots`" in failed.errors["r1"].remedy
