"""Steps are recorded at the run in which they came to mean what they mean, and only there."""

import json
from dataclasses import replace

import pytest

from lakehouse_assets.contracts.plans import PLANS
from lakehouse_assets.lake import plan_log
from lakehouse_assets.lake.plan_log import record_plans, recorded
from lakehouse_assets.lake.steps import STEPS
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.places import local


@pytest.fixture(params=["the same process", "another process"])
def next_run(request: pytest.FixtureRequest):
    """What lies between two runs."""
    return plan_log._known.clear if request.param == "another process" else lambda: None


def with_sql(monkeypatch: pytest.MonkeyPatch, name: str, old: str, new: str) -> None:
    step = STEPS[name]
    assert old in step.sql
    monkeypatch.setattr(plan_log, "STEPS", {**STEPS, name: replace(step, sql=step.sql.replace(old, new))})


def test_the_first_run_records_every_step(lake: Lake):
    assert record_plans(lake, "run 1") == list(STEPS)
    rows = {row["step"]: row for row in lake.rows(PLANS)}
    assert rows.keys() == STEPS.keys()
    row = rows["outside"]
    assert row["run_id"] == "run 1"
    assert row["assets"] == ["nodes"]
    assert row["sql"].startswith("SELECT DISTINCT")
    assert json.loads(row["lineage"])["external"] == ["links.external"]
    assert json.loads(row["tree"])


def test_a_run_with_the_same_steps_writes_nothing(lake: Lake, next_run):
    record_plans(lake, "run 1")
    version = lake.open(PLANS).version()
    next_run()
    assert record_plans(lake, "run 2") == []
    assert lake.open(PLANS).version() == version


def test_a_step_that_is_only_spelled_otherwise_is_not_recorded_again(lake: Lake, monkeypatch, next_run):
    record_plans(lake, "run 1")
    with_sql(monkeypatch, "outside", "SELECT DISTINCT repo", "-- once a file\n  select distinct (repo)")
    next_run()
    assert record_plans(lake, "run 2") == []


def test_a_step_that_means_something_else_is(lake: Lake, monkeypatch, next_run):
    record_plans(lake, "run 1")
    with_sql(monkeypatch, "outside", "SELECT DISTINCT", "SELECT")
    next_run()
    assert record_plans(lake, "run 2") == ["outside"]
    monkeypatch.setattr(plan_log, "STEPS", STEPS)
    next_run()
    assert record_plans(lake, "run 3") == ["outside"]
    history = recorded(lake, "outside")
    assert [each.run_id for each in history] == ["run 1", "run 2", "run 3"]
    assert history[0].fingerprint == history[2].fingerprint != history[1].fingerprint


def test_a_lake_that_was_begun_anew_gets_them_again(lake: Lake):
    record_plans(lake, "run 1")
    local(lake.root).rename(local(lake.root).with_name("away"))
    assert record_plans(lake, "run 2") == list(STEPS)


def test_the_command_lists_steps_and_shows_one(lake: Lake):
    assert [row["run"] for row in lakehouse_json("steps")] == [None] * len(STEPS)
    record_plans(lake, "run 1")
    listed = {row["step"]: row for row in lakehouse_json("steps")}
    assert listed.keys() == STEPS.keys()
    assert listed["global_props"]["run"] == "run 1"
    one = lakehouse_json("steps", "global_props")
    assert one["lineage"]["def_id"] == ["links.caller_def", "links.dst_def"]
    assert [past["run"] for past in one["history"]] == ["run 1"]
    shown = lakehouse("steps", "global_props").output
    assert "-- helps to make global_props" in shown
    assert "run 1" in shown
