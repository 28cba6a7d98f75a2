"""Who an update touched, from the tables of the graph before and after it."""

import pytest

from lakehouse_assets.contracts.impacted_callers import IMPACTED_CALLERS
from lakehouse_assets.contracts.impacted_files import IMPACTED_FILES
from lakehouse_assets.contracts.impacted_importers import IMPACTED_IMPORTERS
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.lake.impact import Impacted, impact_of
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.worlds import World, publish
from lakehouse_assets_tests.support.writes import write


@pytest.fixture
def before() -> World:
    return World().define("a.py", "a.py:f", "b.py", "b.py:g", "c.py:h").use("b.py:g", "a.py:f").use("c.py:h", "b.py:g")


@pytest.fixture
def after() -> World:
    """`f` is gone, and so is the call of it."""
    world = World().define("a.py", "b.py", "b.py:g", "c.py:h").use("c.py:h", "b.py:g")
    return world.change("a.py:f", "removed")


def touched(lake: Lake, world: World, commit: str | None) -> Impacted:
    tables = world.tables()
    return impact_of(lake, "r", tables["diffs"], tables["file_changes"], from_commit=commit)


def test_who_called_what_is_gone_is_found_in_the_graph_before(lake: Lake, before: World, after: World):
    publish(lake, before, "c1")
    publish(lake, after, "c2")
    found = touched(lake, after, "c1")
    assert found.callers["symbol"].to_pylist() == ["`b.py`/g", "`c.py`/h"]
    assert found.callers["distance"].to_pylist() == [1, 2]
    assert found.files["impacted_path"].to_pylist() == ["a.py", "b.py", "c.py"]
    assert found.notes == ()


def test_without_the_graph_before_it_is_said_what_may_be_missing(lake: Lake, before: World, after: World):
    publish(lake, before, "c1")
    publish(lake, after, "c2")
    found = touched(lake, after, "c0")
    assert found.callers.num_rows == 0
    assert "never brought to c0" in found.notes[0]


def test_versions_that_were_vacuumed_are_not_read(lake: Lake, before: World, after: World):
    publish(lake, before, "c1")
    publish(lake, after, "c2")
    lake.open(LINKS).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    found = touched(lake, after, "c1")
    assert found.callers.num_rows == 0
    assert found.notes[0].startswith("links as of c1 is not known or was vacuumed")


def test_the_rows_fit_their_tables(lake: Lake, before: World):
    publish(lake, before.imports_from("d.py", "a.py:f", "f"), "c1")
    found = touched(lake, before.change("a.py:f"), None)
    for contract, held in (
        (IMPACTED_CALLERS, found.callers),
        (IMPACTED_IMPORTERS, found.importers),
        (IMPACTED_FILES, found.files),
    ):
        assert write(lake, contract, held, partitions=("r",)).rows_inserted == held.num_rows > 0
