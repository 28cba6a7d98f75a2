"""What follows the graph is asked for after what it reads was made, once a wave, and across restarts."""

from collections.abc import Iterator

import pytest
from dagster import (
    AssetKey,
    AssetMaterialization,
    AutomationConditionSensorDefinition,
    DagsterInstance,
    DagsterRunStatus,
    DefaultSensorStatus,
    evaluate_automation_conditions,
)

from lakehouse_assets.definitions import defs
from lakehouse_assets.lake.run_partitions import PARTITIONS_NAME

# Dagster's own tool for such tests selects assets in a way that it calls beta.
pytestmark = pytest.mark.filterwarnings("ignore::dagster.BetaWarning")

IMPACT = {"impacted_callers", "impacted_importers", "impacted_files"}


class Ticks:
    """The conditions of all assets, tick by tick, with what Dagster keeps between."""

    def __init__(self, instance: DagsterInstance) -> None:
        self.instance = instance
        self.cursor = None
        self.tick()  # what was there before does not count

    def tick(self) -> dict[str, set[str | None]]:
        """By asset the partitions that are asked for."""
        result = evaluate_automation_conditions(defs, instance=self.instance, cursor=self.cursor)
        self.cursor = result.cursor
        asked = {each.key.path[-1]: result.get_requested_partitions(each.key) for each in result.results}
        return {name: set(partitions) for name, partitions in asked.items() if partitions}

    def made(self, asset: str, partition: str) -> None:
        self.instance.report_runless_asset_event(AssetMaterialization(AssetKey(asset), partition=partition))


@pytest.fixture
def ticks() -> Iterator[Ticks]:
    with DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(PARTITIONS_NAME, ["one", "two"])
        yield Ticks(instance)


def test_each_group_has_a_sensor_of_its_own_and_all_are_off():
    sensors = [each for each in defs.sensors or () if isinstance(each, AutomationConditionSensorDefinition)]
    assert {each.name for each in sensors} == {"follow_with_impact", "follow_with_publish", "follow_with_models"}
    assert {each.default_status for each in sensors} == {DefaultSensorStatus.STOPPED}


def test_what_reads_a_changed_table_is_asked_for_once_and_only_for_its_repository(ticks: Ticks):
    assert ticks.tick() == {}
    ticks.made("diffs", "two")
    asked = ticks.tick()
    assert {name: asked[name] for name in IMPACT} == {name: {"two"} for name in IMPACT}
    assert asked["api_breakage"] == {None}
    assert "iceberg_tables" not in asked  # the commit is not published yet
    assert ticks.tick() == {}
    ticks.made("graph_versions", "two")
    assert ticks.tick()["iceberg_tables"] == {None}


def test_a_wave_of_updates_is_followed_when_it_has_ended(ticks: Ticks):
    job = defs.resolve_job_def("sync")
    run = ticks.instance.create_run_for_job(
        job,
        tags={"dagster/partition": "one"},
        status=DagsterRunStatus.STARTED,
    )
    ticks.made("file_changes", "one")
    ticks.made("definitions", "one")
    assert not ticks.tick().keys() & {*IMPACT, "api_breakage"}
    ticks.instance.report_run_failed(run)
    assert ticks.tick().keys() >= IMPACT
    assert ticks.tick() == {}
