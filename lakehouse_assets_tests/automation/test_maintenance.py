"""The maintenance jobs: what they leave, what they tell, and that their schedules are off."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from dagster import AssetKey, AssetMaterialization, DagsterInstance, DefaultScheduleStatus, job, op

from lakehouse_assets.assets.git.commits import commits
from lakehouse_assets.automation.maintenance import MAINTENANCE_SCHEDULES, delete_runs, maintain, table_health_job
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.maintenance import MAINTENANCE
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.git_assets import GitAssets
from lakehouse_assets_tests.support.repos import RepoBuilder, registered
from lakehouse_assets_tests.support.worlds import World
from lakehouse_assets_tests.support.writes import write

RESOURCES = {"lakehouse": LakehouseResource()}


@pytest.fixture
def linked(lake: Lake, settings: Settings) -> Lake:
    Registry(lake).add([Repository(name="r", location="/r", kind="directory")])
    for number in range(10):
        rows = World().use(f"{number}.py:f().", "a.py:g().").tables()["links"]
        owners = (f"{number}.py",)
        write(lake, LINKS, rows, partitions=("r",), owners=owners, run_id=f"run {number}", cursor="")
    return lake


def test_a_run_compacts_collects_vacuums_and_says_so(linked: Lake):
    with DagsterInstance.ephemeral() as instance:
        assert maintain.execute_in_process(instance=instance, resources=RESOURCES).success
    assert linked.size(LINKS).files == 1
    assert {row["action"] for row in linked.rows(MAINTENANCE) if row["asset"] == "links"} == {"optimize", "vacuum"}


def observed(instance: DagsterInstance, asset: str) -> dict[str, Any]:
    """What the latest observation says."""
    (record,) = instance.fetch_observations(AssetKey(asset), limit=1).records
    assert record.asset_observation is not None
    return {name: value.value for name, value in record.asset_observation.metadata.items()}


def test_the_number_of_stale_partitions_is_observed_on_every_asset_also_of_those_that_were_never_made(
    settings: Settings, tmp_path: Path
):
    repo = RepoBuilder(tmp_path / "one")
    made = repo.commit({"a.py": "x = 1\n"})
    git = GitAssets(settings, registered(repo.path, name="one"))
    git.run(assets=[commits])
    Registry(git.lake).add([registered(tmp_path / "missing", name="two")])

    def counts(asset: str) -> tuple[int, int, str]:
        shown = observed(git.instance, asset)
        return shown["stale_partitions"], shown["unreadable_partitions"], shown["stale_because"]

    assert table_health_job.execute_in_process(instance=git.instance, resources=RESOURCES).success
    assert counts("commits") == (0, 1, "nothing")
    assert "staleness" not in observed(git.instance, "commits")
    assert counts("edges") == (1, 1, "never materialized 1")
    assert counts("churn") == (1, 0, "never materialized 1")
    head = repo.commit({"a.py": "x = 2\n"})
    assert table_health_job.execute_in_process(instance=git.instance, resources=RESOURCES).success
    assert counts("commits") == (1, 1, "cursor 1")
    why = {"asset": "commits", "partition": "one", "because_of": "cursor", "made_with": made, "should_be": head}
    assert [each.data for each in observed(git.instance, "commits")["staleness"].records] == [why]
    shown = observed(git.instance, "materializations")
    assert why in [each.data for each in shown["staleness"].records]
    assert (shown["stale_partitions/commits"], shown["stale_partitions/churn"]) == (1, 1)
    assert shown["stale_partitions"] == sum(n for name, n in shown.items() if name.startswith("stale_partitions/"))


def test_what_was_written_in_the_last_hour_is_observed_on_the_asset_that_tells_of_writes(linked: Lake):
    with DagsterInstance.ephemeral() as instance:
        assert table_health_job.execute_in_process(instance=instance, resources=RESOURCES).success
        shown = observed(instance, "writes")
    rows = linked.read(LINKS).num_rows
    assert shown["rows_changed/links"] == rows
    assert shown["rows_changed"] >= rows
    assert shown["bytes_added/links"] > 0
    assert sum(value for name, value in shown.items() if name.startswith("bytes_added/")) == shown["bytes_added"]
    assert shown["seconds"] > 0


def test_health_is_observed_on_the_asset(linked: Lake):
    with DagsterInstance.ephemeral() as instance:
        assert table_health_job.execute_in_process(instance=instance, resources=RESOURCES).success
        shown = observed(instance, "links")
    assert (shown["files"], shown["small_files"], shown["worth_compacting"]) == (10, 10, 9)
    assert shown["bytes_on_disk"] == shown["bytes"]


@op
def make(context):
    context.log_event(AssetMaterialization(asset_key="thing", partition=context.run.tags["for"]))


@job
def making():
    make()


def test_old_runs_are_forgotten_except_those_that_made_what_is_shown():
    with DagsterInstance.ephemeral() as instance:
        runs = [making.execute_in_process(instance=instance, tags={"for": name}).run_id for name in ("a", "a", "b")]
        time.sleep(0.01)
        assert delete_runs(instance, datetime(2020, 1, 1, tzinfo=UTC)) == 0
        assert delete_runs(instance, datetime.now(UTC)) == 1
        assert {run.run_id for run in instance.get_runs()} == set(runs[1:])
        partitions = instance.get_materialized_partitions(AssetKey("thing"))
        assert partitions == {"a", "b"}


def test_schedules_are_off_until_somebody_turns_them_on():
    assert [each.default_status for each in MAINTENANCE_SCHEDULES] == [DefaultScheduleStatus.STOPPED] * 2
