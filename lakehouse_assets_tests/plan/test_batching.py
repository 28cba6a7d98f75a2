"""Which repositories share a run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehouse_assets.plan.batching import BatchLimits, batched

SMALL = BatchLimits(repositories=3, bytes=10, between=1)


@pytest.mark.parametrize(
    ("wanted", "fresh", "batches"),
    [
        ("abc", "", ["abc"]),
        ("abcde", "", ["abc", "de"]),
        ("ac", "", ["a", "c"]),
        ("ac", "b", ["abc"]),
        ("ad", "bc", ["a", "d"]),
        ("abd", "c", ["ab", "d"]),
        ("", "abc", []),
    ],
)
def test_neighbours_share_a_run_and_few_fresh_ones_may_lie_between(wanted: str, fresh: str, batches: list[str]):
    assert batched("abcde", dict.fromkeys(wanted, 1), fresh, SMALL) == [list(each) for each in batches]


def test_a_batch_is_full_by_bytes_as_well_and_a_large_repository_is_alone():
    assert batched("abcd", {"a": 4, "b": 6, "c": 99, "d": 1}, "", SMALL) == [["a", "b"], ["c"], ["d"]]


@given(st.lists(st.tuples(st.sampled_from(["wanted", "fresh", "other"]), st.integers(0, 12)), max_size=30))
def test_each_wanted_one_is_in_one_batch_and_each_batch_is_a_stretch_within_its_limits(kinds: list[tuple[str, int]]):
    order = [str(number) for number in range(len(kinds))]
    wanted = {name: size for name, (kind, size) in zip(order, kinds, strict=True) if kind == "wanted"}
    fresh = {name for name, (kind, _) in zip(order, kinds, strict=True) if kind == "fresh"}
    batches = batched(order, wanted, fresh, SMALL)
    assert [name for batch in batches for name in batch if name in wanted] == list(wanted)
    for batch in batches:
        assert batch == order[int(batch[0]) : int(batch[-1]) + 1]
        assert set(batch) <= wanted.keys() | fresh
        assert {batch[0], batch[-1]} <= wanted.keys()
        assert len(batch) <= SMALL.repositories
        assert len(batch) == 1 or sum(wanted.get(name, 0) for name in batch) <= SMALL.bytes
