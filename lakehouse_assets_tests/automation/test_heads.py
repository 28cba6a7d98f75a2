"""The sensor and the schedule ask for exactly the stale repositories, and each head once."""

from pathlib import Path
from typing import Any

import pytest
from dagster import (
    DagsterInstance,
    DefaultScheduleStatus,
    DefaultSensorStatus,
    RunRequest,
    SkipReason,
    build_schedule_context,
    build_sensor_context,
)

from lakehouse_assets.automation.heads import hourly_sync, new_heads
from lakehouse_assets.core.settings import Settings
from lakehouse_assets_tests.support.command import lakehouse
from lakehouse_assets_tests.support.repos import RepoBuilder


@pytest.fixture
def shop(tmp_path: Path, settings: Settings) -> RepoBuilder:
    shop = RepoBuilder(tmp_path / "shop")
    shop.commit({"a.py": "1\n"})
    lakehouse("repo", "add", "shop", str(shop.path))
    return shop


def tick() -> list[RunRequest | SkipReason]:
    with DagsterInstance.ephemeral() as instance:
        answer: Any = new_heads(build_sensor_context(instance=instance))
        return list(answer)


def test_both_are_off_until_somebody_turns_them_on():
    assert new_heads.default_status == DefaultSensorStatus.STOPPED
    assert hourly_sync.default_status == DefaultScheduleStatus.STOPPED


def test_a_new_head_asks_for_one_run_of_its_repository_at_that_commit(shop: RepoBuilder):
    head = shop.commit({"a.py": "2\n"})
    (request,) = tick()
    assert isinstance(request, RunRequest)
    assert request.partition_key == "shop"
    assert request.run_config["ops"]["commits"]["config"]["heads"] == {"shop": head}


def test_the_same_head_seen_again_has_the_same_run_key_and_a_newer_one_another(shop: RepoBuilder):
    (first,), (second,) = tick(), tick()
    shop.commit({"a.py": "3\n"})
    (third,) = tick()
    assert isinstance(first, RunRequest)
    assert isinstance(second, RunRequest)
    assert isinstance(third, RunRequest)
    assert first.run_key == second.run_key
    assert first.run_key != third.run_key


@pytest.mark.usefixtures("spark")
def test_a_fresh_repository_asks_for_nothing(shop: RepoBuilder):
    lakehouse("sync", "shop")
    (skip,) = tick()
    assert isinstance(skip, SkipReason)
    assert "1 repositories are fresh" in (skip.skip_message or "")


def test_a_repository_that_cannot_be_read_does_not_hold_back_the_others(shop: RepoBuilder, tmp_path: Path):
    gone = RepoBuilder(tmp_path / "gone")
    gone.commit({"a.py": "1\n"})
    lakehouse("repo", "add", "gone", str(gone.path))
    gone.path.rename(tmp_path / "moved")
    assert [request.partition_key for request in tick() if isinstance(request, RunRequest)] == ["shop"]


def test_the_schedule_asks_for_the_same(shop: RepoBuilder):
    with DagsterInstance.ephemeral() as instance:
        answer: Any = hourly_sync(build_schedule_context(instance=instance))
        assert [request.partition_key for request in answer] == ["shop"]
