"""The assets of impact: made from the last update, together, and only when something they rest on changed."""

from pathlib import Path

import pytest

from lakehouse_assets.assets.change.impact import impacted
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.impacted_files import IMPACTED_FILES
from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.lake.local_engine import local_engine
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.upsert import UpsertService
from lakehouse_assets.plan.scope import Equals
from lakehouse_assets.recipes.impact import IMPACT_RECIPES
from lakehouse_assets_tests.support.graphs import publish as publish_versions
from lakehouse_assets_tests.support.worlds import World, rows
from lakehouse_assets_tests.support.writes import no_spark, rows_of, write


def publish(lake: Lake, world: World, run_id: str, *, from_commit: str | None = "c1") -> None:
    changed = [{"repo": "r", "path": "a.py", "change": "modified", "from_commit": from_commit}]
    tables = {**world.tables(), FILE_CHANGES.name: rows(FILE_CHANGES, changed)}
    write(lake, COMMITS, arrow_schema(COMMITS.columns).empty_table(), partitions=("r",), run_id=run_id)
    for contract in (DEFINITIONS, LINKS, IMPORTS_RESOLVED, DIFFS, FILE_CHANGES):
        write(lake, contract, tables[contract.name], partitions=("r",), run_id=run_id)
    publish_versions(lake, "r", commit=run_id)


def make(lake: Lake, run_id: str) -> list[str]:
    """Make the assets as their run would; gives the tables that were written."""
    written: list[str] = []
    service = UpsertService(lake, spark=no_spark)
    for contract in (each.contract for each in IMPACT_RECIPES):
        with local_engine() as engine:
            batches = impacted(LakehouseResource(), ["r"], [contract.name], engine)[contract.name]
        for batch in batches.batches:
            service.write(contract, batch, {"r": (Equals(column="repo", value="r"),)}, run_id=run_id)
            written.append(contract.name)
    return written


@pytest.fixture
def world(lake: Lake, tmp_path: Path) -> World:
    Registry(lake).add([Repository(name="r", location=str(tmp_path), kind="directory")])
    world = World().define("a.py", "a.py:f", "b.py", "b.py:g").use("b.py:g", "a.py:f").change("a.py:f")
    publish(lake, world, "sync 1")
    return world


def files(lake: Lake) -> dict[str, int]:
    return {row["impacted_path"]: row["distance"] for row in rows_of(lake, IMPACTED_FILES)}


@pytest.mark.usefixtures("world")
def test_they_are_made_together_and_not_again(lake: Lake):
    assert make(lake, "run 1") == [each.name for each in IMPACT_RECIPES]
    assert files(lake) == {"a.py": 0, "b.py": 1}
    assert make(lake, "run 2") == []


def test_a_new_caller_makes_them_stale(lake: Lake, world: World):
    make(lake, "run 1")
    publish(lake, world.define("c.py:h").use("c.py:h", "a.py:f"), "sync 2")
    assert len(make(lake, "run 2")) == len(IMPACT_RECIPES)
    assert files(lake) == {"a.py": 0, "b.py": 1, "c.py": 1}


def test_a_first_update_touches_nobody(lake: Lake, world: World):
    world.diffs.clear()
    publish(lake, world, "sync 2", from_commit=None)
    make(lake, "run 1")
    assert files(lake) == {}
