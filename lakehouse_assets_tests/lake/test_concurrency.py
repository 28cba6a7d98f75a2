"""Conflicts between writers are tried again, with longer and longer pauses, and nothing else is."""

import pytest
from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError

from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake import concurrency
from lakehouse_assets.lake.concurrency import retried
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.write_once import Write, carry_out
from lakehouse_assets_tests.support.writes import THINGS, rows_of, table_of, thing, write


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited at most before each further attempt; nobody waits."""
    waited: list[float] = []

    def longest(low: float, high: float) -> float:
        waited.append(high)
        return low

    monkeypatch.setattr(concurrency.random, "uniform", longest)
    return waited


@pytest.fixture
def table(lake: Lake) -> DeltaTable:
    """A table of one row."""
    write(lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f")]), run_id="the first")
    return lake.open(THINGS)


def test_a_real_conflict_is_tried_again_with_what_is_there_then(lake: Lake, table: DeltaTable, pauses: list[float]):
    lake.open(THINGS).update({"size": "2"}, predicate="size = 1")
    no_second_try = CommitProperties(max_commit_retries=0)
    tried = [table, lake.open(THINGS)]

    retried(lake, THINGS, lambda: tried.pop(0).delete("size > 0", commit_properties=no_second_try))

    assert len(pauses) == 1
    assert rows_of(lake, THINGS) == []


@pytest.mark.usefixtures("table")
def test_pauses_grow_up_to_a_limit_and_after_a_time_it_is_given_up(
    lake: Lake, pauses: list[float], monkeypatch: pytest.MonkeyPatch
):
    now = iter(float(second) for second in range(1_000))
    monkeypatch.setattr(concurrency.time, "monotonic", lambda: next(now))
    monkeypatch.setattr(concurrency.time, "sleep", lambda _: None)

    def always() -> None:
        raise CommitFailedError("version 3 was committed by another writer")

    with pytest.raises(LakeStateError, match=r"run it again when the other writer is done"):
        retried(lake, THINGS, always)
    assert len(pauses) == concurrency.PATIENCE_SECONDS
    assert pauses == sorted(pauses)
    assert pauses[0] < pauses[-1] <= 2.0


@pytest.mark.usefixtures("table", "pauses")
def test_a_write_that_never_gets_through_names_the_run_whose_commit_it_met_last(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(concurrency, "PATIENCE_SECONDS", -1.0)
    met = Write(root=str(lake.root), rows=[thing("a", "x.py", "f", 9)], run_id="ours", overtaken=1)
    with pytest.raises(LakeStateError) as told:
        carry_out(met)
    version = lake.open(THINGS).version()
    assert told.value.subject == "table things"
    assert "the last was run of another machine, UPDATE by delta-rs:" in told.value.seen
    assert f"as version {version}" in told.value.seen
    assert [row["size"] for row in rows_of(lake, THINGS)] == [101]


@pytest.mark.usefixtures("table", "pauses")
def test_a_writer_of_another_program_is_named_by_its_engine(lake: Lake, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(concurrency, "PATIENCE_SECONDS", -1.0)
    lake.open(THINGS).update({"size": "2"})

    def always() -> None:
        raise CommitFailedError("conflict")

    with pytest.raises(LakeStateError, match=r"the last was UPDATE by delta-rs:\S+ as version 2"):
        retried(lake, THINGS, always)


def test_a_table_that_refuses_the_write_is_no_conflict_though_delta_rs_gives_it_the_same_class(
    lake: Lake, table: DeltaTable, pauses: list[float]
):
    table.alter.set_table_properties({"delta.appendOnly": "true"})
    with pytest.raises(CommitFailedError, match="append-only"):
        retried(lake, THINGS, lambda: lake.open(THINGS).delete("size = 1"))
    assert pauses == []


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("wrong")])
def test_any_other_error_is_raised_at_once(lake: Lake, error: Exception, pauses: list[float]):
    def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        retried(lake, THINGS, fail)
    assert pauses == []
