"""Which assets run, and which part of their keys is told for it, when something other than a commit changes.

As a user sees it: what `lakehouse status` and a dry run compare, and what the table `writes` tells of the run.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets.assets.freshness import plan_sync
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.extract.symbols import external_symbol
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.recipes import extractors
from lakehouse_assets.recipes.catalog import RECIPES
from lakehouse_assets_tests.support.graph_lake import GraphLake
from lakehouse_assets_tests.support.repos import RepoBuilder, registered

PROJECT = {
    "shop/__init__.py": "from shop.cart import Cart\n",
    "shop/cart.py": "class Cart:\n    def total(self):\n        return 1\n",
    "shop/main.py": "from shop import Cart\n\n\ndef run():\n    return Cart().total()\n",
    "tools/show.js": "function show() { return 1 }\n",
}
GIT = {"commits", "snapshots", "blobs"}
LINKED = {each.name for each in RECIPES.values() if each.step == "linking"}
OF_FACTS = {"extracts", "diffs", *LINKED, "definitions", "nodes", "edges", "props"}
"""What is made from what the extractors find."""


class Shop:
    """A repository in a lake that is up to date, what is stale in it, and what a sync then runs."""

    def __init__(self, settings: Settings, path: Path) -> None:
        RepoBuilder(path).commit({**PROJECT})
        self.path = path
        self.graph = GraphLake(settings.home, [registered(path, name="shop")])
        self.graph.sync()
        assert self.told() == {}

    def told(self) -> dict[str, set[str]]:
        """By part of the key the assets that are stale because of it."""
        plan = plan_sync(self.graph.lakehouse.settings, list(self.graph.repositories.values()))
        found: dict[str, set[str]] = {}
        for decision in plan.decisions:
            for reason in decision.reasons:
                assert reason.old != reason.new
                found.setdefault(reason.part, set()).add(reason.asset)
        return found

    def states(self) -> dict[str, set[str]]:
        """The assets that are stale and those that wait for others."""
        (decision,) = plan_sync(self.graph.lakehouse.settings, list(self.graph.repositories.values())).decisions
        found: dict[str, set[str]] = {}
        for asset, state in decision.states.items():
            found.setdefault(state, set()).add(asset)
        found.pop("fresh", None)
        return found

    def ran(self) -> dict[str, int]:
        """Sync; the assets that ran, with the rows that they changed."""
        run = self.graph.sync()
        assert self.told() == {}
        rows = [row for row in self.graph.lake.read(WRITES).to_pylist() if row["run_id"] == run]
        return {row["asset"]: row["rows_inserted"] + row["rows_updated"] + row["rows_deleted"] for row in rows}


@pytest.fixture
def shop(settings: Settings, tmp_path: Path) -> Shop:
    return Shop(settings, tmp_path / "shop")


@pytest.fixture
def change(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Puts another attribute in a place that code versions are read from; they are read anew."""

    def forget() -> None:
        extractors.extractors.cache_clear()
        for recipe in RECIPES.values():
            vars(recipe).pop("code_version", None)
            vars(recipe).pop("derivation", None)

    def put(place: Any, name: str, value: Any) -> None:
        if isinstance(place, dict):  # the attributes of what is frozen
            monkeypatch.setitem(place, name, value)
        else:
            monkeypatch.setattr(place, name, value)
        forget()

    yield put
    monkeypatch.undo()
    forget()


def of_table(name: str, attribute: str) -> property:
    """A property of contracts that is another for one table."""
    own = getattr(TableContract, attribute)
    return property(lambda contract: "another" if contract.name == name else own.fget(contract))


def test_a_policy_a_contract_and_code_rerun_what_they_make_and_equal_rows_stop_there(shop: Shop, change):
    change(TableContract, "policy_hash", of_table("props", "policy_hash"))
    assert shop.told() == {"policy_hash": {"props"}}
    assert shop.states() == {"stale": {"props"}, "waiting": {"graph_versions"}}
    assert shop.ran() == {"props": 0}

    change(TableContract, "version", of_table("definitions", "version"))
    assert shop.told() == {"code_version": {"definitions"}}
    assert shop.ran() == {"definitions": 0}

    nodes = RECIPES["nodes"]
    change(vars(nodes), "functions", (*nodes.functions, external_symbol))
    assert shop.told() == {"code_version": {"nodes"}}
    assert shop.ran() == {"nodes": 0}


def test_a_table_that_is_made_with_others_reruns_with_them(shop: Shop, change):
    change(TableContract, "version", of_table("link_files", "version"))
    assert shop.told() == {"code_version": {"link_files"}}
    assert shop.ran() == dict.fromkeys(LINKED, 0)


def test_an_extractor_reruns_what_is_made_from_its_facts_and_no_other(shop: Shop, change):
    own = extractors.extractor_version
    change(extractors, "extractor_version", lambda name: "another" if name == "Python" else own(name))
    assert shop.told() == {"code_version": OF_FACTS}
    ran = shop.ran()
    assert set(ran) == OF_FACTS
    assert ran.pop("extracts") == 3, "contents in other languages are not read again"
    assert not any(ran.values())


def test_a_setting_reruns_what_is_read_from_git_and_then_the_files_that_it_concerns(shop: Shop):
    changed = registered(shop.path, name="shop", exclude=("tools/*",))
    Registry(shop.graph.lake).add([changed], update=True)
    shop.graph.repositories["shop"] = changed
    assert shop.told() == {"settings_hash": GIT}
    ran = shop.ran()
    assert (ran["snapshots"], ran["extracts"], ran["props"]) == (1, 0, 0)
    writes = {row["asset"]: row["owners"] for row in shop.graph.lake.read(WRITES).sort_by("written_at").to_pylist()}
    made = {name: list(json.loads(writes[name])) for name in ("definitions", "nodes", "edges")}
    assert set(map(tuple, made.values())) == {("tools/show.js",)}
