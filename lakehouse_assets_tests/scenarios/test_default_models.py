"""The models that come along, over two small known repositories: an application, and the library that it uses.

shop/a.py  ⇄ shop/b.py      a cycle of imports; a.total calls b.price, which calls lib.tax and, at first, b.unused
tests/test_a.py             reaches a.total by one call, b.price by two
lib.py                      tax is called by shop, forgotten by nobody
"""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets.assets.activity.commit_files import touched
from lakehouse_assets.assets.activity.months import stale_months
from lakehouse_assets.contracts.commit_files import COMMIT_FILES
from lakehouse_assets.core.settings import DEFAULT_MODELS
from lakehouse_assets.lake.upsert import UpsertService
from lakehouse_assets.plan.scope import Equals
from lakehouse_assets_tests.support.graph_lake import GraphLake
from lakehouse_assets_tests.support.model_lake import ModelLake
from lakehouse_assets_tests.support.repos import RepoBuilder, registered
from lakehouse_assets_tests.support.writes import no_spark

A = "from shop.b import price\n\n\ndef total(items):\n    return sum(price(item) for item in items)\n"
B = """from lib import tax


def price(item):
    from shop.a import total
    if item:
        return tax(item)
    return total([])


def unused():
    return 1
"""
TEST = "from shop.a import total\n\n\ndef test_total():\n    assert total([1])\n"


class World:
    """Both repositories in a lake, with the models applied after each sync."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.shop, self.lib = RepoBuilder(path / "shop"), RepoBuilder(path / "lib")
        self.lib.commit({"lib.py": "def tax(value):\n    return value * 2\n\n\ndef forgotten():\n    return 0\n"})
        self.shop.commit({"shop/__init__.py": "", "shop/a.py": A, "shop/b.py": B, "tests/test_a.py": TEST})
        names = ("lib", "shop")
        self.graph = GraphLake(path / "home", [registered(path / name, name=name) for name in names])
        self.models = ModelLake(self.graph.lake, DEFAULT_MODELS)
        self.models.create("prod")

    def update(self) -> list[str]:
        self.graph.sync()
        batches = touched(self.graph.lakehouse, list(stale_months(self.graph.lake))).batches
        service = UpsertService(self.graph.lake, spark=no_spark, executor="delta-rs")
        for batch in batches.batches:
            scopes = {
                key.partition: (Equals(column="month", value=date.fromisoformat(key.partition)),) for key in batch.keys
            }
            service.write(COMMIT_FILES, batch, scopes, run_id=f"files {batch.keys[0].input_versions}")
        return self.models.ran("prod")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return [tuple(row.values()) for row in self.models.ask("prod", query)]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """After a second commit: price takes more, unused is gone."""
    made = World(tmp_path_factory.mktemp("world"))
    assert len(made.update()) == 7
    changed = B.replace("price(item)", "price(item, rate=1)").replace("\n\ndef unused():\n    return 1\n", "")
    made.shop.commit({"shop/b.py": changed})
    assert "dead_code" in made.update()
    return made


def test_hot_spots_are_what_changes_often_and_branches_much(world: World):
    query = "SELECT path, churn, complexity, score FROM hot_spots WHERE repo = 'shop' ORDER BY score DESC, path LIMIT 2"
    assert world.rows(query) == [("shop/b.py", 2, 2, 4), ("shop/a.py", 1, 2, 2)]


def test_dead_code_is_what_nothing_uses(world: World):
    assert world.rows("SELECT repo, qualified_name, lines FROM dead_code") == [("lib", "lib.forgotten", 2)]


def test_cycles_of_imports_are_found(world: World):
    query = "SELECT first_file, second_file, length FROM dependency_cycles"
    assert world.rows(query) == [("shop/a.py", "shop/b.py", 2)]


def test_breakage_is_told_by_commit(world: World):
    query = "SELECT name, breakage, users FROM api_breakage ORDER BY name"
    assert world.rows(query) == [("price", "signature_changed", 2), ("unused", "removed", 0)]


def test_fan_in_and_fan_out_are_counted(world: World):
    query = "SELECT qualified_name, fan_in, fan_out FROM fan_in_fan_out WHERE repo = 'shop' ORDER BY 1"
    assert world.rows(query) == [("shop.a.total", 2, 1), ("shop.b.price", 1, 1), ("tests.test_a.test_total", 0, 1)]


def test_tests_that_reach_changed_code_are_counted(world: World):
    assert world.rows("SELECT symbol, tests, distance FROM test_reach") == [("`shop/b.py`/price().", 1, 2)]


def test_what_relies_on_another_repository_is_told(world: World):
    query = "SELECT path, used_repo, used_path, kind FROM cross_repository WHERE kind = 'CALL'"
    assert world.rows(query) == [("shop/b.py", "lib", "lib.py", "CALL")]


def test_nothing_runs_where_nothing_changed(world: World):
    assert world.update() == []
