"""Where a run works follows from what it is about to make."""

import pytest

from lakehouse_assets.plan.engine import (
    ASKED_FOR,
    MANY_CHANGES,
    MANY_ROWS,
    Engine,
    Extent,
    choose_engine,
    together,
)


@pytest.mark.parametrize(
    ("extent", "engine", "reason"),
    [
        (Extent(), "local", "0 changed files, at most 500"),
        (Extent(changed=MANY_CHANGES), "local", "500 changed files, at most 500"),
        (Extent(changed=MANY_CHANGES + 1), "spark", "501 changed files, more than 500"),
        (Extent(changed=3, of="commits"), "local", "3 changed commits, at most 500"),
        (Extent(first=("nodes of shop",)), "spark", "first build of nodes of shop"),
        (Extent(first=("a", "b", "c"), changed=9_999), "spark", "first build of a and 2 more"),
        (Extent(anew=("edges of shop (code_version)",)), "spark", "made anew: edges of shop (code_version)"),
        (Extent(rows=MANY_ROWS), "local", "20,000,000 rows are to be read, at most 20,000,000"),
        (Extent(rows=MANY_ROWS + 1), "spark", "20,000,001 rows are to be read, more than 20,000,000"),
    ],
)
def test_builds_run_on_spark_and_small_updates_here(extent: Extent, engine: Engine, reason: str):
    choice = choose_engine("auto", extent)
    assert (choice.engine, choice.reason) == (engine, reason)
    assert str(choice) == f"{engine}: {reason}"


@pytest.mark.parametrize("wanted", ["spark", "local"])
@pytest.mark.parametrize("extent", [Extent(), Extent(first=("nodes",)), Extent(changed=MANY_CHANGES + 1)])
def test_the_setting_forces_either(wanted: Engine, extent: Extent):
    choice = choose_engine(wanted, extent)
    assert (choice.engine, choice.reason) == (wanted, ASKED_FOR)


def test_that_much_changed_is_told_whatever_the_engine():
    much = Extent(changed=MANY_CHANGES + 1)
    assert [choose_engine(wanted, much).much_changed for wanted in ("auto", "spark", "local")] == [True] * 3
    assert not choose_engine("auto", Extent(first=("nodes",), changed=1)).much_changed


def test_what_several_repositories_need_counts_together():
    found = together([Extent(changed=400), Extent(changed=200, anew=("edges",)), Extent(first=("nodes",))])
    assert found == Extent(first=("nodes",), anew=("edges",), changed=600)
