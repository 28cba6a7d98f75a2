"""Contracts in the words of Arrow."""

from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pytest

from lakehouse_assets.contracts.schemas import arrow_array, arrow_rows
from lakehouse_assets.contracts.table import Column

KIND = pa.timestamp("us", tz="UTC")


@pytest.mark.parametrize(
    ("moment", "microseconds"),
    [
        (datetime(2026, 2, 3, 4, 5, 6, 7, tzinfo=UTC), 1_770_091_506_000_007),
        (datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), -1),
        (datetime(2026, 2, 3, 4, 5, 6, 7, tzinfo=timezone(timedelta(hours=5, minutes=30))), 1_770_071_706_000_007),
        (datetime(2026, 2, 3, 4, 5, 6, 7), 1_770_091_506_000_007),  # noqa: DTZ001  # as some sources give them
        (None, None),
        (7, 7),
    ],
)
def test_a_moment_becomes_its_microseconds_in_arrow(moment: datetime | int | None, microseconds: int | None):
    assert arrow_array([moment], KIND) == pa.array([microseconds], type=KIND)


def test_rows_in_arrow_lack_nothing_that_a_column_asks_for():
    columns = (Column(name="a", type="bigint", description="."), Column(name="b", type="string", description="."))
    assert arrow_rows(columns, [{"a": 1}, {"a": 2, "b": "x"}]).to_pylist() == [{"a": 1, "b": None}, {"a": 2, "b": "x"}]
