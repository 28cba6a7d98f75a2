"""The maintenance jobs: what they leave, what they tell, and that their schedules are off."""

import time
from datetime import UTC, datetime

import pytest
from dagster import AssetKey, AssetMaterialization, DagsterInstance, DefaultScheduleStatus, job, op

from lakehouse_assets.automation.maintenance import MAINTENANCE_SCHEDULES, delete_runs, maintain, table_health_job
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.maintenance import MAINTENANCE
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.tables import Lake
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


def test_health_is_observed_on_the_asset(linked: Lake):
    with DagsterInstance.ephemeral() as instance:
        assert table_health_job.execute_in_process(instance=instance, resources=RESOURCES).success
        records = instance.fetch_observations(AssetKey("links"), limit=1).records
        assert records
        observation = records[0].asset_observation
        assert observation is not None
        shown = {name: value.value for name, value in observation.metadata.items()}
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
