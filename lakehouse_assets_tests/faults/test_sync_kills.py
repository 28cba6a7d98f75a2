"""An update of the graph is killed at each named point, in each of its writes; run again, it ends as a clean build.

As a user would see it: `lakehouse sync` dies, `lakehouse sync` is run again.
"""

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehouse_assets.assets.graph.derivation_list import GRAPH_TABLES, HEAD_TABLES
from lakehouse_assets.contracts.plans import PLANS
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.effects import EFFECT_POINTS, KILL_AT
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.comparison import compare
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.sources.keys import GIT_TABLES
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json, spawn
from lakehouse_assets_tests.support.repos import RepoBuilder

BASE = "class Base:\n    def go(self):\n        return helper()\n\n\ndef helper():\n    return 1\n"
BEFORE = {
    "shop/__init__.py": "from shop.base import Base\n",
    "shop/base.py": BASE,
    "shop/cart.py": "from shop import Base\n\n\nclass Cart(Base):\n    pass\n",
    "shop/main.py": "from shop.cart import Cart\n\n\ndef run():\n    return Cart().go()\n",
    "shop/old.py": "from shop.base import helper\n\nhelper()\n",
}
AFTER = {
    "shop/base.py": "# Renamed.\n" + BASE.replace("helper", "help_out"),
    "shop/cart.py": "from shop import Base\n\n\nclass Cart(Base):\n    def go(self):\n        return super().go()\n",
    "shop/old.py": None,
    "shop/new.py": "from shop.main import run\n\nrun()\n",
}
POINTS = [point for point in EFFECT_POINTS if point.startswith(("write:", "commit:"))]
"""All that an update without workers comes to."""
WRITES_OF_AN_UPDATE = len((*GIT_TABLES, *GRAPH_TABLES))
LINKING = 9
"""The write, counted from one, that is in the midst of the tables that linking makes together."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a lake at the first commit of a repository that has a second, and one made at the second."""
    folder = tmp_path_factory.mktemp("kills")
    shop = RepoBuilder(folder / "shop")
    first = shop.commit({**BEFORE})
    second = shop.commit({**AFTER})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAKEHOUSE_EXECUTOR", "delta-rs")
        patch.delenv("DAGSTER_HOME", raising=False)
        for home, commit in (("first", first), ("clean", second)):
            patch.setenv("LAKEHOUSE_HOME", str(folder / home))
            lakehouse("repo", "add", "shop", str(shop.path))
            assert lakehouse("sync", "shop", "--to", commit).exit_code == 0
        yield folder


def kill_and_repeat(settings: Settings, prepared: Path, point: str, number: int) -> None:
    shutil.copytree(prepared / "first", settings.home)
    lake = Lake(settings.lake)
    killed = spawn(settings, "sync", "shop", **{KILL_AT: f"{point} #{number}", "LAKEHOUSE_EXECUTOR": "delta-rs"})
    assert killed.returncode == -signal.SIGKILL, killed.stderr

    assert lakehouse("sync", "shop").exit_code == 0
    assert lakehouse_json("status", "shop")["repositories"][0]["fresh"]
    clean = Lake(prepared / "clean" / "lake")
    found = [compare(lake, clean, contract, "shop") for contract in HEAD_TABLES]
    assert [each for each in found if each.surplus or each.lacking] == []


@pytest.fixture(autouse=True)
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEHOUSE_EXECUTOR", "delta-rs")


@pytest.mark.parametrize("point", ["write: before commit", "write: after commit"])
def test_an_update_killed_while_it_links_ends_as_a_clean_build(settings: Settings, prepared: Path, point: str):
    kill_and_repeat(settings, prepared, point, LINKING)


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS)
def test_an_update_killed_at_any_point_of_a_write_does(settings: Settings, prepared: Path, point: str):
    kill_and_repeat(settings, prepared, point, 1)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, WRITES_OF_AN_UPDATE + 1))
@pytest.mark.parametrize("point", ["write: before commit", "write: after commit"])
def test_an_update_killed_in_any_of_its_writes_does(settings: Settings, prepared: Path, point: str, number: int):
    kill_and_repeat(settings, prepared, point, number)


def test_an_update_has_as_many_writes_as_are_killed_here(prepared: Path):
    """A table that is written twice, or not counted here, would leave writes untried."""
    assets = Lake(prepared / "clean" / "lake").read(WRITES, columns=["asset"])["asset"].to_pylist()
    # The meaning of the steps is kept when it changes, which an update does not bring about.
    assert len([asset for asset in assets if asset != PLANS.name]) == WRITES_OF_AN_UPDATE
