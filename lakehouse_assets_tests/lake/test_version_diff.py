"""Rows that differ between two versions of a table."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakehouse_assets.core.errors import BadInputError, LakeStateError
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.version_diff import version_diff
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.writes import THINGS, table_of, thing, write


def put(lake: Lake, rows: list[dict[str, Any]], run: str) -> int:
    return write(lake, THINGS, table_of(THINGS, rows), partitions=("r",), run_id=run).version_after


def test_rows_are_told_by_key_and_the_other_way_round_the_other_way_round(lake: Lake):
    first = put(lake, [thing("r", "p", "a"), thing("r", "p", "b"), thing("r", "q", "same")], "1")
    put(lake, [thing("r", "p", "x")], "2")
    last = put(lake, [thing("r", "p", "b", size=2), thing("r", "p", "c"), thing("r", "q", "same")], "3")
    there = version_diff(lake, THINGS, first, last)
    assert (there.added, there.removed, there.changed) == (1, 1, 1)
    assert [row[2] for row in there.samples.added] == ["c"]
    back = version_diff(lake, THINGS, last, first)
    assert [row[2] for row in back.samples.added] == ["a"]
    ((before, after),) = back.samples.changed
    assert (before[3], after[3]) == ("2", "1")
    assert version_diff(lake, THINGS, first, last, partitions=("other",)).count == 0


ROWS = st.dictionaries(st.sampled_from("abcd"), st.none() | st.integers(0, 2), max_size=4)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=ROWS, after=ROWS)
def test_counts_are_those_of_the_two_states(tmp_path_factory: pytest.TempPathFactory, before: dict, after: dict):
    lake = Lake(tmp_path_factory.mktemp("lake"))
    lake.ensure(THINGS)
    first = put(lake, [thing("r", "p", name, size=size) for name, size in before.items()], "1")
    second = put(lake, [thing("r", "p", name, size=size) for name, size in after.items()], "2")
    found = version_diff(lake, THINGS, first, second)
    assert found.added == len(after.keys() - before.keys())
    assert found.removed == len(before.keys() - after.keys())
    assert found.changed == sum(before[name] != after[name] for name in before.keys() & after.keys())


def test_versions_that_are_not_there_are_refused(lake: Lake):
    with pytest.raises(BadInputError, match="not been made"):
        version_diff(lake, THINGS, 0, 1)
    put(lake, [thing("r", "p", "a")], "1")
    last = put(lake, [thing("r", "p", "b")], "2")
    with pytest.raises(BadInputError, match=f"the newest is {last}"):
        version_diff(lake, THINGS, 0, 99)
    for file in local(lake.path(THINGS)).glob("repo=r/*.parquet"):
        file.unlink()
    with pytest.raises(LakeStateError, match="removed"):
        version_diff(lake, THINGS, last - 1, last)
