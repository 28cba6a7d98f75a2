"""Search among names."""

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse_assets.explorer.names import Names

NAMES = st.lists(st.text("aB.é\n", min_size=1, max_size=6), min_size=1, max_size=8)


def names(*qualified: str) -> Names:
    columns = {"qualified_name": list(qualified), "kind": ["function"] * len(qualified), "repo": ["r"] * len(qualified)}
    return Names.of(pa.table(columns))


def test_whole_names_come_before_last_parts_before_beginnings_before_the_rest():
    held = names("xrunx", "a.running", "a.run", "run", "a.run.b")
    assert held.search("run") == [3, 2, 1, 4, 0]
    assert held.search("  ") == []


@settings(deadline=None)
@given(NAMES, st.text("aB.é", min_size=1, max_size=3))
def test_every_name_that_has_the_query_is_found_once(qualified: list[str], query: str):
    wanted = {i for i, name in enumerate(qualified) if query.lower() in name.lower().replace("\n", " ")}
    found = names(*qualified).search(query)
    assert len(found) == len(set(found))
    assert set(found) == wanted
