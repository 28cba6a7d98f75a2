from dataclasses import replace
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from lakehouse_assets.contracts.table import Column
from lakehouse_assets.plan.matching import Matching
from lakehouse_assets.plan.scope import Equals, Scope, Window, equal_scopes
from lakehouse_assets_tests.support.writes import THINGS

DAYS = replace(
    THINGS,
    columns=(*THINGS.columns, Column(name="day", type="date", description="When.")),
    partition_by=("repo", "day"),
)
MAY = Window(column="day", start=date(2026, 5, 1), end=date(2026, 6, 1))


def test_a_value_finds_its_own_scope_and_no_other():
    matching = Matching(THINGS, equal_scopes("repo", ["a", "b"]))
    assert [list(matching.of((name,))) for name in ("a", "b", "c")] == [[0], [1], []]
    assert (matching.has(("b",)), matching.has((None,))) == (True, False)


def test_a_window_holds_its_start_and_not_its_end():
    matching = Matching(DAYS, [(Equals(column="repo", value="a"), MAY)])
    found = {day: matching.has(("a", day)) for day in (date(2026, 5, 1), date(2026, 5, 31), date(2026, 6, 1), None)}
    assert list(found.values()) == [True, True, False, False]
    assert not matching.has(("b", date(2026, 5, 1)))


def test_the_one_partition_of_a_table_without_columns_has_every_row():
    assert list(Matching(replace(THINGS, partition_by=()), [()]).of(())) == [0]


def test_the_order_in_which_a_scope_names_its_columns_does_not_matter():
    scope = (Equals(column="day", value=date(2026, 5, 1)), Equals(column="repo", value="a"))
    assert Matching(DAYS, [scope]).has(("a", date(2026, 5, 1)))


repos, days = st.sampled_from("abc"), st.dates(date(2026, 4, 29), date(2026, 6, 2))
conditions = st.one_of(
    st.builds(lambda value: Equals(column="repo", value=value), repos),
    st.builds(lambda value: Equals(column="day", value=value), days),
    st.just(MAY),
)


@given(st.lists(st.lists(conditions, max_size=2, unique_by=lambda each: each.column).map(tuple)), repos, days)
def test_each_scope_is_found_whose_conditions_hold_all(scopes: list[Scope], repo: str, day: date):
    def holds(scope: Scope) -> bool:
        values = {"repo": repo, "day": day}
        return all(
            values[each.column] == each.value if isinstance(each, Equals) else each.start <= day < each.end
            for each in scope
        )

    expected = [number for number, scope in enumerate(scopes) if holds(scope)]
    assert sorted(Matching(DAYS, scopes).of((repo, day))) == expected
