from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.plan.scope import Condition, Equals, Window, check_scopes, equal_scopes, scope_predicate
from lakehouse_assets_tests.support.shapes import SHAPES
from lakehouse_assets_tests.support.writes import THINGS

TWO = next(shape for shape in SHAPES if shape.name == "two dimensions").contract()
DAYS = next(shape for shape in SHAPES if shape.name == "windows of dates").contract()
MOMENTS = next(shape for shape in SHAPES if shape.name == "windows of moments").contract()


def test_values_of_one_column_are_one_list():
    assert scope_predicate(equal_scopes("repo", ["a", "b"]), "spark", of="t") == "t.`repo` IN ('a', 'b')"


def test_no_scope_is_the_whole_table():
    assert scope_predicate((), "spark") == "TRUE"


def test_a_window_has_its_start_and_not_its_end():
    window = Window(column="day", start=date(2024, 1, 1), end=date(2024, 1, 8))
    assert scope_predicate(((window,),), "duckdb") == "\"day\" >= DATE '2024-01-01' AND \"day\" < DATE '2024-01-08'"


def test_two_dimensions_stay_pairs():
    """a1 and b2 are not a2: each pair is held together, and all of them by one bracket."""
    pairs = tuple((Equals(column="repo", value=r), Equals(column="bucket", value=b)) for r, b in (("a", 1), ("b", 2)))
    assert scope_predicate(pairs, "spark") == "((`repo` = 'a' AND `bucket` = 1) OR (`repo` = 'b' AND `bucket` = 2))"


@pytest.mark.parametrize("scopes", [(), ((),), ((Equals(column="repo", value="a"),),)])
def test_a_scope_that_leaves_a_partition_column_open_is_refused(scopes):
    with pytest.raises(BadInputError, match=r"says nothing of .*bucket"):
        check_scopes(TWO, scopes)


def test_a_scope_by_another_column_is_refused():
    with pytest.raises(BadInputError, match="names size, by which the table is not partitioned"):
        check_scopes(THINGS, ((Equals(column="repo", value="a"), Equals(column="size", value=1)),))


@pytest.mark.parametrize(
    ("contract", "condition"),
    [
        (THINGS, Equals(column="repo", value=1)),
        (THINGS, Equals(column="repo", value="")),
        (DAYS, Equals(column="day", value="2024-01-01")),
        (DAYS, Equals(column="day", value=datetime(2024, 1, 1, tzinfo=UTC))),
        (DAYS, Window(column="day", start=date(2024, 1, 2), end=date(2024, 1, 2))),
        (MOMENTS, Window(column="at", start=date(2024, 1, 1), end=date(2024, 1, 2))),
        (MOMENTS, Equals(column="at", value=datetime(2024, 1, 1))),  # noqa: DTZ001
    ],
    ids=["number for text", "empty text", "text for day", "moment for day", "empty window", "days for moments", "zone"],
)
def test_a_value_that_the_column_cannot_have_is_refused(contract, condition: Condition):
    """It would match no row: the write would take its partition for empty, and append."""
    with pytest.raises(BadInputError, match="is no value or window of a"):
        check_scopes(contract, ((condition,),))


def test_fitting_scopes_pass():
    check_scopes(THINGS, equal_scopes("repo", ["a"]))
    check_scopes(TWO, ((Equals(column="repo", value="a"), Equals(column="bucket", value=1)),))
    check_scopes(DAYS, ((Window(column="day", start=date(2024, 1, 1), end=date(2024, 1, 2)),),))
    check_scopes(replace(THINGS, partition_by=()), ())
    with pytest.raises(BadInputError):
        check_scopes(replace(THINGS, partition_by=()), equal_scopes("repo", ["a"]))
