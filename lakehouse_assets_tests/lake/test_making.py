"""Rows are made of work piece by piece, and come out as if it had been one."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.lake import making
from lakehouse_assets.lake.making import made
from lakehouse_assets_tests.support.writes import THINGS, thing

WORK = pa.table({"path": [f"{number:03}.py" for number in range(100)], "payload": [b"x" * 1_000] * 100})


@pytest.mark.parametrize(("most", "pieces"), [(1, 100), (10_100, 10), (2**20, 1)])
def test_work_in_this_process_is_done_in_pieces_of_bounded_size(
    monkeypatch: pytest.MonkeyPatch, most: int, pieces: int
):
    monkeypatch.setattr(making, "_BYTES_AT_ONCE", most)
    seen: list[int] = []

    def place(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            seen.append(batch.num_rows)
            rows = [thing("a", path, "f") for path in batch["path"].to_pylist()]
            yield pa.RecordBatch.from_pylist(rows, schema=arrow_schema(THINGS.columns))

    rows: Any = made(THINGS, WORK, place)
    assert rows["path"].to_pylist() == WORK["path"].to_pylist()
    assert sum(seen) == WORK.num_rows
    assert pieces <= len(seen) <= pieces + 2


def test_no_work_makes_no_rows():
    rows: Any = made(THINGS, WORK.slice(0, 0), lambda batches: batches)
    assert rows.num_rows == 0
