"""Conflicts between writers are tried again, with longer and longer pauses, and nothing else is."""

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError

from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake import concurrency
from lakehouse_assets.lake.concurrency import retried


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
def table(tmp_path: Path) -> Path:
    write_deltalake(tmp_path / "table", pa.table({"a": [1]}))
    return tmp_path / "table"


def test_a_real_conflict_is_tried_again_with_what_is_there_then(table: Path, pauses: list[float]):
    late = DeltaTable(table)
    DeltaTable(table).update({"a": "2"}, predicate="a = 1")
    no_second_try = CommitProperties(max_commit_retries=0)
    tried = [late, DeltaTable(table)]

    retried("table", lambda: tried.pop(0).delete("a > 0", commit_properties=no_second_try))

    assert len(pauses) == 1
    assert DeltaTable(table).to_pyarrow_table().num_rows == 0


def test_pauses_grow_up_to_a_limit_and_after_a_time_the_other_writer_is_named(
    pauses: list[float], monkeypatch: pytest.MonkeyPatch
):
    now = iter(float(second) for second in range(1_000))
    monkeypatch.setattr(concurrency.time, "monotonic", lambda: next(now))
    monkeypatch.setattr(concurrency.time, "sleep", lambda _: None)

    def always() -> None:
        raise CommitFailedError("version 3 was committed by another writer")

    with pytest.raises(LakeStateError, match=r"the last was run 7.*run it again when the other writer is done"):
        retried("table edges", always, other=lambda: "run 7")
    assert len(pauses) == concurrency.PATIENCE_SECONDS
    assert pauses == sorted(pauses)
    assert pauses[0] < pauses[-1] <= 2.0


def test_a_table_that_refuses_the_write_is_no_conflict_though_delta_rs_gives_it_the_same_class(
    table: Path, pauses: list[float]
):
    DeltaTable(table).alter.set_table_properties({"delta.appendOnly": "true"})
    with pytest.raises(CommitFailedError, match="append-only"):
        retried("table", lambda: DeltaTable(table).delete("a = 1"))
    assert pauses == []


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), ValueError("wrong")])
def test_any_other_error_is_raised_at_once(error: Exception, pauses: list[float]):
    def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        retried("table", fail)
    assert pauses == []
