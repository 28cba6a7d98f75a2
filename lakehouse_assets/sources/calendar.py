"""Moments and days that no calendar of ours has: PostgreSQL's infinity, years before 1 and behind 9999."""

# pyright: standard
# pyarrow comes without types, so that strict checking would complain of every call to it.

from datetime import UTC, date, datetime

import pyarrow as pa
import pyarrow.compute as pc

_MOMENTS = (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
_BOUNDS = {
    "moment": tuple(pa.scalar(each, pa.timestamp("us", tz="UTC")).value for each in _MOMENTS),
    "day": tuple(pa.scalar(each, pa.date32()).value for each in (date.min, date.max)),
}


def beyond_calendar(rows: pa.Table | pa.RecordBatch) -> str | None:
    """The first column that has such a value. Engines read them each in its own way, and some not at all."""
    for field in rows.schema:
        if pa.types.is_timestamp(field.type):
            (first, last), whole = _BOUNDS["moment"], pa.int64()
        elif pa.types.is_date32(field.type):
            (first, last), whole = _BOUNDS["day"], pa.int32()
        else:
            continue
        values = rows[field.name]
        if whole == pa.int64() and field.type.unit != "us":
            values = values.cast(pa.timestamp("us", tz=field.type.tz), safe=False)
        found = pc.min_max(values.cast(whole)).as_py()  # pyright: ignore[reportAttributeAccessIssue]
        if found["min"] is not None and (found["min"] < first or found["max"] > last):
            return field.name
    return None
