"""An update of the graph is killed at each named point, in each of its writes; run again, it ends as a clean build.

As a user would see it: `lakehouse sync` dies, `lakehouse sync` is run again.
"""

import shutil
import signal
from collections.abc import Iterator

import pytest

from lakehouse_assets.contracts.plans import PLANS
from lakehouse_assets.contracts.repositories import REPOSITORIES
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.effects import EFFECT_POINTS, KILL_AT
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.recipes.catalog import GRAPH_TABLES
from lakehouse_assets.recipes.git import GIT_TABLES
from lakehouse_assets_tests.faults.conftest import FaultNamed
from lakehouse_assets_tests.faults.prepared import Prepared, differences, prepared_lakes
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json, spawn

POINTS = [point for point in EFFECT_POINTS if point.startswith(("write:", "commit:"))]
"""All that an update without workers comes to."""
WRITES_OF_AN_UPDATE = len((*GIT_TABLES, *GRAPH_TABLES))
LINKING = 9
"""The write, counted from one, that is in the midst of the tables that linking makes together."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    with prepared_lakes(tmp_path_factory.mktemp("kills")) as held:
        yield held


def kill_and_repeat(settings: Settings, prepared: Prepared, point: str, number: int, fault: FaultNamed) -> None:
    tried = fault(f"kill -9 at `{point}`")
    shutil.copytree(prepared.first, settings.home)
    lake = Lake(settings.lake)
    killed = spawn(settings, "sync", "shop", **{KILL_AT: f"{point} #{number}", "LAKEHOUSE_ENGINE": "local"})
    assert killed.returncode == -signal.SIGKILL, killed.stderr

    assert lakehouse("sync", "shop").exit_code == 0
    assert lakehouse_json("status", "shop")["repositories"][0]["fresh"]
    tried.survived(**differences(lake, prepared.clean))


@pytest.fixture(autouse=True)
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")


@pytest.mark.parametrize("point", ["write: before commit", "write: after commit"])
def test_an_update_killed_while_it_links_ends_as_a_clean_build(
    settings: Settings, prepared: Prepared, point: str, fault: FaultNamed
):
    kill_and_repeat(settings, prepared, point, LINKING, fault)


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS)
def test_an_update_killed_at_any_point_of_a_write_does(
    settings: Settings, prepared: Prepared, point: str, fault: FaultNamed
):
    kill_and_repeat(settings, prepared, point, 1, fault)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, WRITES_OF_AN_UPDATE + 1))
@pytest.mark.parametrize("point", ["write: before commit", "write: after commit"])
def test_an_update_killed_in_any_of_its_writes_does(
    settings: Settings, prepared: Prepared, point: str, number: int, fault: FaultNamed
):
    kill_and_repeat(settings, prepared, point, number, fault)


def test_an_update_has_as_many_writes_as_are_killed_here(prepared: Prepared):
    """A table that is written twice, or not counted here, would leave writes untried."""
    assets = prepared.clean.read(WRITES, columns=["asset"])["asset"].to_pylist()
    # The meaning of the steps is kept when it changes, which an update does not bring about.
    assert len([asset for asset in assets if asset not in (PLANS.name, REPOSITORIES.name)]) == WRITES_OF_AN_UPDATE
