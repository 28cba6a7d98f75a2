"""Garbage collection and vacuum around environments: what one refers to stays, everything else goes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lakehouse_assets.assets.maintenance import vacuum
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.environment_changes import drop_environment, rollback
from lakehouse_assets.lake.environment_holds import collect_garbage
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.model_lake import ModelLake, file
from lakehouse_assets_tests.support.places import local

SIZES = "SELECT repo, path, size FROM snapshots WHERE size > {}"


@pytest.fixture
def built(lake: Lake, tmp_path: Path) -> ModelLake:
    found = ModelLake(lake, tmp_path / "models")
    found.rows(SNAPSHOTS, [file("a", "x.py", 1), file("a", "y.py", 5)])
    found.models(sizes=SIZES.format(0))
    found.create("prod")
    found.ran("prod")
    return found


def tables(lake: ModelLake) -> set[str]:
    return {path.name for path in local(lake.lake.root).glob("sizes__*")}


def shown(lake: ModelLake, environment: str) -> list[str]:
    return [row["path"] for row in lake.ask(environment, "SELECT path FROM sizes ORDER BY path")]


def test_exactly_what_no_environment_refers_to_is_freed(built: ModelLake):
    built.create("dev", base="prod")
    built.models(sizes=SIZES.format(2))
    built.ran("dev")
    of_dev = built.environment("dev").members["sizes"].table
    assert len(tables(built)) == 2
    assert collect_garbage(built.lake).tables == {}
    drop_environment(built.lake, "dev")
    assert set(collect_garbage(built.lake, dry_run=True).tables) == {of_dev}
    assert len(tables(built)) == 2
    assert set(collect_garbage(built.lake).tables) == {of_dev}
    assert tables(built) == {built.environment("prod").members["sizes"].table}
    assert shown(built, "prod") == ["x.py", "y.py"]
    # Built again, it is a table of its own, and what the ledger knew of the first is not taken for it.
    assert built.ran("prod") == ["sizes"]
    assert shown(built, "prod") == ["y.py"]
    assert built.ran("prod") == []


def test_a_plan_whose_tables_were_collected_meanwhile_is_refused(built: ModelLake):
    built.create("dev", base="prod")
    built.models(sizes=SIZES.format(2))
    built.ran("dev")
    plan = built.plan("prod")
    assert [step.action for step in plan.steps] == ["share"]
    drop_environment(built.lake, "dev")
    collect_garbage(built.lake)
    with pytest.raises(LakeStateError, match="the tables of sizes were there when it was made, and are gone"):
        built.carry_out(plan)
    assert shown(built, "prod") == ["x.py", "y.py"]
    assert built.ran("prod") == ["sizes"]


def test_the_revision_before_is_kept_for_going_back_and_earlier_ones_are_not(built: ModelLake):
    first = built.environment("prod").revision
    for limit in (2, 3):
        built.models(sizes=SIZES.format(limit))
        built.ran("prod")
    assert len(collect_garbage(built.lake).tables) == 1
    rollback(built.lake, "prod")
    with pytest.raises(LakeStateError, match="sizes have been cleared away"):
        rollback(built.lake, "prod", to=first)


def test_an_expired_environment_goes_with_what_only_it_had(built: ModelLake):
    built.create("dev", base="prod", expires_at=datetime.now(UTC) - timedelta(days=1))
    built.create("later", base="prod", expires_at=datetime.now(UTC) + timedelta(days=1))
    built.models(sizes=SIZES.format(2))
    built.ran("dev")
    done = collect_garbage(built.lake)
    assert (done.environments, len(done.tables), done.kept) == (("dev",), 1, 1)


def test_a_vacuum_takes_nothing_that_an_environment_shows(built: ModelLake, settings: Settings):
    built.create("dev", base="prod")
    for size in (6, 7, 8):
        built.rows(SNAPSHOTS, [file("a", "x.py", 1), file("a", f"{size}.py", size)])
        built.ran("dev")
    before = built.data_files()
    done = {each.plan.table: each for each in vacuum(settings, age=timedelta(0))}
    assert {"snapshots", *tables(built)} <= set(done)
    assert len(built.data_files()) < len(before)
    assert (shown(built, "prod"), shown(built, "dev")) == (["x.py", "y.py"], ["8.py", "x.py"])
    rows = built.ask("prod", "SELECT path FROM snapshots ORDER BY path")
    assert [row["path"] for row in rows] == ["x.py", "y.py"]
    rollback(built.lake, "dev")
    assert shown(built, "dev") == ["7.py", "x.py"]
