"""Slices of a table's files: each file in one of them, and no owner in two."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehouse_assets.plan.pruning import FileFacts
from lakehouse_assets.plan.slices import MOST_BYTES, Slice, are_bounded, can_be_cut, finder, slices_of
from lakehouse_assets.plan.write_facts import BatchFacts
from lakehouse_assets.plan.write_plan import SMALL_ROWS
from lakehouse_assets_tests.plan.test_write_plan import BATCH, FILLED, planned
from lakehouse_assets_tests.support.writes import THINGS

OWNERS = st.text("abc", max_size=3)
PLACES = st.sampled_from(("x", "y"))


@st.composite
def files(draw: st.DrawFn) -> FileFacts:
    low, high = sorted((draw(OWNERS), draw(OWNERS)))
    return FileFacts(
        size=1, rows=draw(st.integers(0, 3)), partition={"repo": draw(PLACES)}, owner_min=low, owner_max=high
    )


@given(stored=st.lists(files(), max_size=8), coming=st.lists(files(), max_size=4), owner=OWNERS, place=PLACES)
def test_an_owner_s_slice_has_every_file_that_may_hold_it(
    stored: list[FileFacts], coming: list[FileFacts], owner: str, place: str
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lakehouse_assets.plan.slices.ROWS_A_SLICE", 1)
        slices = slices_of(THINGS, stored, coming)
    assert sorted(map(repr, stored)) == sorted(repr(file) for each in slices for file in each.files)
    number = finder(slices)((place,), owner)
    holding = [f for f in stored if f.partition["repo"] == place and f.owner_min <= owner <= f.owner_max]
    assert number is not None or not holding
    if number is not None:
        found = slices[number]
        assert found.place == (place,)
        assert found.low is None or found.low <= owner
        assert found.high is None or owner < found.high
        assert all(file in found.files for file in holding)


def test_files_are_cut_where_enough_rows_are_together_and_owners_do_not_overlap():
    def file(low: str, high: str, rows: int = 200_000) -> FileFacts:
        return FileFacts(size=1, rows=rows, partition={"repo": "x"}, owner_min=low, owner_max=high)

    slices = slices_of(THINGS, [file("a", "c"), file("c", "e"), file("e", "f"), file("g", "h"), file("k", "m")])
    assert [(each.low, each.high, len(each.files)) for each in slices] == [(None, "g", 3), ("g", None, 2)]
    between = slices_of(THINGS, [file("a", "c"), file("k", "m")], [file("d", "e"), file("f", "g")])
    assert [(each.low, each.high, len(each.files)) for each in between] == [(None, "f", 1), ("f", None, 1)]


def test_a_file_without_bounds_keeps_its_partition_in_one_slice():
    known = FileFacts(size=1, rows=900_000, partition={"repo": "x"}, owner_min="a", owner_max="b")
    unknown = replace(known, owner_min=None, partition={"repo": "y"})
    slices = slices_of(THINGS, [known, replace(known, owner_min="c", owner_max="d"), unknown, unknown])
    assert [(each.place, len(each.files)) for each in slices] == [(("x",), 1), (("x",), 1), (("y",), 2)]


def test_a_slice_that_does_not_fit_memory_is_noticed():
    large = FileFacts(size=MOST_BYTES, rows=1, partition={"repo": "x"})
    assert are_bounded([Slice(place=("x",), files=(large,))])
    assert not are_bounded([Slice(place=("x",), files=(large, large))])


def test_only_a_table_whose_key_tells_owner_and_partition_can_be_cut():
    assert can_be_cut(THINGS)
    assert not can_be_cut(replace(THINGS, owner=None))
    assert not can_be_cut(replace(THINGS, key=("repo", "name")))
    assert not can_be_cut(replace(THINGS, key=("path", "name")))


@pytest.mark.parametrize(
    ("batch", "executor"),
    [
        (replace(BATCH, rows=SMALL_ROWS + 1, in_process=True), "process"),
        (replace(BATCH, rows=SMALL_ROWS + 1, in_files=True), "workers"),
        (replace(BATCH, rows=SMALL_ROWS + 1), "spark"),
    ],
    ids=["in this process", "in files", "on Spark"],
)
def test_a_large_batch_is_compared_in_slices_where_it_is(batch: BatchFacts, executor: str):
    plan = planned(batch=batch)
    assert plan.executor == executor
    assert bool(plan.slices) == (executor != "spark")
    assert ("slices     1, each compared by itself" in str(plan)) == bool(plan.slices)
    for table in (
        replace(FILLED, plain=False),
        replace(FILLED, files=(replace(FILLED.files[0], size=MOST_BYTES + 1),)),
    ):
        assert planned(batch=batch, table=table).executor == "spark"
