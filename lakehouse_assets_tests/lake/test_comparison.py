"""A comparison tells every row that one side has more often than the other, and no other."""

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse_assets.lake.comparison import compare_rows
from lakehouse_assets_tests.support.writes import THINGS, table_of, thing

rows = st.builds(
    thing,
    st.just("a"),
    st.sampled_from(["x.py", "y.py"]),
    st.sampled_from(["", "f", "g"]),
    st.sampled_from([None, 0, 1, -1]),
)


def counted(held: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row.values()) for row in held)


@settings(deadline=None)
@given(st.lists(rows, max_size=12), st.lists(rows, max_size=12))
def test_what_only_one_side_has_is_counted_and_shown(held: list[dict[str, Any]], clean: list[dict[str, Any]]):
    found = compare_rows(THINGS, table_of(THINGS, held), table_of(THINGS, clean))
    surplus, lacking = counted(held) - counted(clean), counted(clean) - counted(held)
    assert (found.rows, found.surplus, found.lacking) == (len(held), surplus.total(), lacking.total())
    shown = {(row["only in"], *(row[name] for name in THINGS.column_names)) for row in found.examples}
    assert shown <= {("the lake", *row) for row in surplus} | {("a clean build", *row) for row in lacking}
    assert bool(shown) == found.is_there
    assert set(found.owners) == {row[1] for row in (*surplus, *lacking)}
