"""Samples of the rows that a commit changed."""

from dataclasses import replace

from lakehouse_assets.lake.commit_rows import commit_samples
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.writes import THINGS, table_of, thing, write

SECRET = replace(
    THINGS, columns=tuple(replace(c, sensitive=True) if c.name in ("size", "kind") else c for c in THINGS.columns)
)


def put(lake: Lake, *rows: dict, contract=THINGS, run: str) -> int:
    return write(lake, contract, table_of(contract, rows), partitions=("r",), run_id=run).version_after


def test_a_first_load_shows_its_first_rows_by_key(lake: Lake):
    version = put(lake, *(thing("r", "p", f"n{i}", size=i) for i in range(9)), run="1")
    samples = commit_samples(lake, THINGS, version, limit=2)
    names = samples.columns.index("name")
    assert [row[names] for row in samples.added] == ["n0", "n1"]
    assert (samples.removed, samples.changed, samples.note) == ((), (), "")


def test_a_merge_shows_what_came_went_and_changed_side_by_side(lake: Lake):
    put(lake, thing("r", "p", "a"), thing("r", "p", "b"), thing("r", "p", "same"), run="1")
    version = put(lake, thing("r", "p", "b", size=None), thing("r", "p", "c"), thing("r", "p", "same"), run="2")
    samples = commit_samples(lake, THINGS, version)
    assert samples.added == (("r", "p", "c", "1", None, None),)
    assert samples.removed == (("r", "p", "a", "1", None, None),)
    assert samples.changed == ((("r", "p", "b", "1", None, None), ("r", "p", "b", None, None, None)),)


def test_sensitive_values_are_redacted_and_that_they_changed_is_told(lake: Lake):
    put(lake, thing("r", "p", "a", size=41, kind="a"), contract=SECRET, run="1")
    version = put(lake, thing("r", "p", "a", size=42, kind="a"), contract=SECRET, run="2")
    ((before, after),) = commit_samples(lake, SECRET, version).changed
    assert before == ("r", "p", "a", "redacted", "redacted", None)
    assert after == ("r", "p", "a", "redacted, changed", "redacted", None)


def test_files_that_are_gone_are_told_of(lake: Lake):
    put(lake, thing("r", "p", "a"), run="1")
    version = put(lake, thing("r", "p", "a", size=2), run="2")
    for file in (lake.path(THINGS) / "_change_data").rglob("*.parquet"):
        file.unlink()
    assert "vacuumed" in commit_samples(lake, THINGS, version).note
    assert "no longer has version 99" in commit_samples(lake, THINGS, 99).note
