"""The sensor and the schedule ask for exactly the stale repositories, in batches, and for each state once."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from dagster import (
    DagsterInstance,
    DagsterRunStatus,
    DefaultScheduleStatus,
    DefaultSensorStatus,
    RunRequest,
    SensorResult,
    SkipReason,
    build_schedule_context,
    build_sensor_context,
)

from lakehouse_assets.automation.heads import BECAUSE_TAG, hourly_sync, new_heads, weekly_extraction
from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.run_partitions import range_tags
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import lakehouse
from lakehouse_assets_tests.support.repos import RepoBuilder


class Sensor:
    """The sensor, with what Dagster keeps between its ticks."""

    def __init__(self, instance: DagsterInstance) -> None:
        self.instance = instance
        self.cursor: str | None = None

    def tick(self) -> SensorResult:
        result = new_heads(build_sensor_context(instance=self.instance, cursor=self.cursor))
        assert isinstance(result, SensorResult)
        self.cursor = result.cursor
        return result

    def asked(self) -> list[str | tuple[str, str]]:
        return [_partitions(request) for request in self.tick().run_requests or []]


def _partitions(request: RunRequest) -> str | tuple[str, str]:
    if request.partition_key is not None:
        return request.partition_key
    tags = request.tags
    return tags["dagster/asset_partition_range_start"], tags["dagster/asset_partition_range_end"]


@pytest.fixture
def sensor(settings: Settings) -> Iterator[Sensor]:
    with DagsterInstance.ephemeral() as instance:
        yield Sensor(instance)


@pytest.fixture
def shop(tmp_path: Path, settings: Settings) -> RepoBuilder:
    shop = RepoBuilder(tmp_path / "shop")
    shop.commit({"a.py": "1\n"})
    lakehouse("repo", "add", "shop", str(shop.path))
    return shop


def test_both_are_off_until_somebody_turns_them_on():
    assert new_heads.default_status == DefaultSensorStatus.STOPPED
    assert hourly_sync.default_status == DefaultScheduleStatus.STOPPED


def test_a_state_is_asked_for_once_and_a_new_head_at_the_next_tick(shop: RepoBuilder, sensor: Sensor):
    assert sensor.asked() == ["shop"]
    assert sensor.asked() == []
    shop.commit({"a.py": "2\n"})
    assert sensor.asked() == ["shop"]


def test_a_repository_is_asked_for_when_one_that_it_imports_from_changed_and_the_run_says_so(
    tmp_path: Path, settings: Settings, sensor: Sensor, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    lib, app = RepoBuilder(tmp_path / "lib"), RepoBuilder(tmp_path / "app")
    lib.commit({"kit.py": "def f():\n    pass\n"})
    app.commit({"main.py": "from kit import f\n"})
    for builder in (lib, app):
        lakehouse("repo", "add", builder.path.name, str(builder.path))
    lakehouse("sync", "--all")
    assert sensor.asked() == []
    lib.commit({"kit.py": None, "other.py": ""})
    lakehouse("sync", "lib")
    (request,) = sensor.tick().run_requests or []
    assert request.partition_key == "app"
    assert "module kit of lib" in request.tags[BECAUSE_TAG]
    assert "module kit of no repository" in request.tags[BECAUSE_TAG]


def test_a_burst_of_pushes_during_a_run_is_one_update_after_it(shop: RepoBuilder, sensor: Sensor):
    from lakehouse_assets.definitions import defs

    sensor.asked()
    job = defs.resolve_job_def("sync")
    run = sensor.instance.create_run_for_job(job, tags={"dagster/partition": "shop"}, status=DagsterRunStatus.STARTED)
    for number in range(3):
        shop.commit({"a.py": f"{number}\n"})
        assert sensor.asked() == []
    sensor.instance.report_run_failed(run)
    assert sensor.asked() == ["shop"]
    assert sensor.asked() == []


def test_repositories_that_are_neighbours_share_a_run(shop: RepoBuilder, sensor: Sensor, tmp_path: Path):
    for name in ("shop2", "shop3"):
        RepoBuilder(tmp_path / name).commit({"a.py": "1\n"})
        lakehouse("repo", "add", name, str(tmp_path / name))
    assert sensor.asked() == [("shop", "shop3")]
    shop.commit({"a.py": "2\n"})
    assert sensor.asked() == ["shop"]


def test_a_run_over_a_range_keeps_all_its_repositories_from_being_asked_for(
    shop: RepoBuilder, sensor: Sensor, tmp_path: Path
):
    from lakehouse_assets.definitions import defs

    RepoBuilder(tmp_path / "shop2").commit({"a.py": "1\n"})
    lakehouse("repo", "add", "shop2", str(tmp_path / "shop2"))
    sensor.asked()
    tags = range_tags(["shop", "shop2"])
    sensor.instance.create_run_for_job(defs.resolve_job_def("sync"), tags=tags, status=DagsterRunStatus.NOT_STARTED)
    shop.commit({"a.py": "2\n"})
    assert sensor.asked() == []


def test_a_fresh_repository_asks_for_nothing(shop: RepoBuilder, sensor: Sensor, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    lakehouse("sync", "shop")
    skip = sensor.tick().skip_reason
    assert isinstance(skip, SkipReason)
    assert "1 repositories are fresh" in (skip.skip_message or "")


def test_a_repository_that_cannot_be_read_does_not_hold_back_the_others(
    shop: RepoBuilder, sensor: Sensor, tmp_path: Path
):
    gone = RepoBuilder(tmp_path / "gone")
    gone.commit({"a.py": "1\n"})
    lakehouse("repo", "add", "gone", str(gone.path))
    gone.path.rename(tmp_path / "moved")
    assert sensor.asked() == ["shop"]


def test_the_schedule_asks_for_what_is_stale_whoever_asked_before(
    shop: RepoBuilder, sensor: Sensor, settings: Settings
):
    sensor.asked()
    with open_instance(settings) as instance:
        answer = hourly_sync(build_schedule_context(instance=instance, scheduled_execution_time=datetime.now(UTC)))
    assert isinstance(answer, list)
    assert [request.partition_key for request in answer] == ["shop"]


def test_new_extractors_are_worked_off_weekly_and_nothing_else_is(
    shop: RepoBuilder, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    lakehouse("sync", "shop")
    shop.commit({"a.py": "2\n"})

    def asked() -> list[str | None]:
        with open_instance(settings) as instance:
            answer = weekly_extraction(
                build_schedule_context(instance=instance, scheduled_execution_time=datetime.now(UTC))
            )
        return [request.partition_key for request in answer] if isinstance(answer, list) else []

    assert asked() == []
    entry = Ledger(Lake(settings.lake)).latest([EXTRACTS])["extracts", "shop"]
    Ledger(Lake(settings.lake)).record(EXTRACTS, known=[replace(entry, code_version="older")])
    assert asked() == ["shop"]
