"""Maintenance is killed between its effects: no row of the head is lost, and the same command run again completes it.

As a user would see it: the command dies, the lake answers as before, the command is run again.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.core.effects import EFFECT_POINTS, KILL_AT
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.iceberg import NAMESPACE, open_catalog
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.faults.conftest import FaultNamed
from lakehouse_assets_tests.faults.prepared import Prepared, differences, prepared_lakes
from lakehouse_assets_tests.support.command import LAKEHOUSE, lakehouse, lakehouse_json, spawn
from lakehouse_assets_tests.support.places import local

pytestmark = pytest.mark.slow


def points(*beginnings: str) -> list[str]:
    return [point for point in EFFECT_POINTS if point.startswith(beginnings)]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    with prepared_lakes(tmp_path_factory.mktemp("maintenance")) as held:
        yield held


@pytest.fixture
def updated(settings: Settings, prepared: Prepared, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A lake with an update behind it, so that there are files that nobody needs any more."""
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    shutil.copytree(prepared.first, settings.home)
    assert lakehouse("sync", "shop").exit_code == 0
    return settings


def killed(settings: Settings, point: str, *words: str, clock: Sequence[str] = ()) -> None:
    done = subprocess.run(
        [*clock, str(LAKEHOUSE), *words],
        env=os.environ | {"LAKEHOUSE_HOME": str(settings.home), KILL_AT: point},
        capture_output=True,
        text=True,
        check=False,
    )
    died = "Caught Killed" in done.stdout + done.stderr if clock else done.returncode == -signal.SIGKILL
    assert died, done.stderr  # who sets the clock says how the command died, and ends by itself


def as_clean(settings: Settings, prepared: Prepared) -> dict[str, int]:
    return differences(Lake(settings.lake), prepared.clean)


def again(settings: Settings, *words: str) -> None:
    done = spawn(settings, *words)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("faketime") is None, reason="there is no faketime to let entries grow old")
@pytest.mark.parametrize("point", points("vacuum:"))
def test_a_killed_vacuum_took_nothing_that_is_needed(
    updated: Settings, prepared: Prepared, point: str, fault: FaultNamed
):
    tried = fault(f"kill -9 at `{point}`")
    killed(updated, point, "vacuum", "--older-than", "0", clock=("faketime", "-f", "+400d"))
    assert as_clean(updated, prepared) == {"lost": 0, "doubled": 0}
    again(updated, "vacuum", "--older-than", "0")
    assert lakehouse_json("status", "shop")["repositories"][0]["fresh"]
    tried.survived(**as_clean(updated, prepared))


@pytest.mark.parametrize("point", points("optimize:"))
def test_a_killed_compaction_leaves_the_rows_as_they_were(
    updated: Settings, prepared: Prepared, point: str, fault: FaultNamed
):
    tried = fault(f"kill -9 at `{point}` of a compaction")
    killed(updated, point, "optimize", "--everything")
    assert as_clean(updated, prepared) == {"lost": 0, "doubled": 0}
    again(updated, "optimize", "--everything")
    tried.survived(**as_clean(updated, prepared))


@pytest.mark.parametrize("point", points("delete:"))
@pytest.mark.parametrize("number", [1, 5])
def test_a_repository_whose_removal_was_killed_is_built_from_nothing_under_its_name(
    updated: Settings, prepared: Prepared, point: str, number: int, fault: FaultNamed
):
    tried = fault(f"kill -9 at `{point}`")
    location = next(each["location"] for each in lakehouse_json("repo", "list") if each["name"] == "shop")
    killed(updated, f"{point} #{number}", "repo", "remove", "shop")
    again(updated, "gc")
    again(updated, "repo", "add", "shop", location)
    again(updated, "sync", "shop")
    tried.survived(**as_clean(updated, prepared))


@pytest.mark.parametrize("point", points("delete:"))
def test_a_killed_collection_of_contents_leaves_those_that_files_have(
    updated: Settings, prepared: Prepared, point: str, fault: FaultNamed
):
    tried = fault(f"kill -9 at `{point}`")
    shop = Path(next(each["location"] for each in lakehouse_json("repo", "list") if each["name"] == "shop"))
    again(updated, "repo", "add", "copy", str(shop), "--exclude", "**")
    again(updated, "repo", "remove", "shop", "--keep-rows")
    killed(updated, point, "gc")
    again(updated, "gc")
    again(updated, "repo", "add", "shop", str(shop))
    again(updated, "sync", "shop")
    tried.survived(**as_clean(updated, prepared))


@pytest.mark.parametrize("point", points("apply:", "collect:"))
def test_an_environment_shows_the_same_after_an_apply_or_a_collection_was_killed(
    updated: Settings, prepared: Prepared, point: str, fault: FaultNamed
):
    tried = fault(f"kill -9 at `{point}`")
    query = "SELECT * FROM fan_in_fan_out ORDER BY ALL"
    again(updated, "env", "create", "prod")
    if point.startswith("apply:"):
        killed(updated, point, "apply", "prod")
    again(updated, "apply", "prod")
    shown = lakehouse_json("sql", "--env", "prod", query)
    assert shown
    if point.startswith("collect:"):
        again(updated, "env", "drop", "prod")
        killed(updated, point, "env", "gc")
        again(updated, "env", "gc")
        assert not list(local(updated.lake).glob("*__*"))
        assert not list(local(updated.lake).glob(".removed-*"))
        again(updated, "env", "create", "prod")
        again(updated, "apply", "prod")
    tried.compared(lakehouse_json("sql", "--env", "prod", query), shown)


@pytest.mark.parametrize("point", points("publish:"))
def test_a_killed_publication_has_happened_or_not(updated: Settings, prepared: Prepared, point: str, fault: FaultNamed):
    tried = fault(f"kill -9 at `{point}`")
    killed(updated, point, "publish", "definitions")
    again(updated, "publish", "definitions")
    table = open_catalog(updated.home).load_table((NAMESPACE, "definitions"))
    assert len(table.snapshots()) == 1
    read, rows = table.scan().to_arrow(), Lake(updated.lake).read(DEFINITIONS)
    keys = [(row["repo"], row["def_id"]) for row in read.to_pylist()]
    held = [(row["repo"], row["def_id"]) for row in rows.to_pylist()]
    tried.survived(lost=len(set(held) - set(keys)), doubled=len(keys) - len(set(held)))
