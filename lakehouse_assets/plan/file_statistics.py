"""What Delta's log says of a data file: rows, NULLs, and bounds by which readers pass it over.

Invariant: bounds hold. A long text's bounds are cut short, the lower to a prefix, the upper to a prefix and a
character that no text goes beyond. A column whose values are not all ordered (NaN) has none.
"""

# pyright: standard
# pyarrow comes without types, so that strict checking would complain of every call to it.

import json
import math
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakehouse_assets.contracts.table import Column, TableContract

_LONGEST_TEXT = 64
_LAST_CHARACTER = "\U0010ffff"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def with_statistics(contract: TableContract) -> list[Column]:
    """Minimum and maximum prune on scalars; payloads would bloat the log, and it prunes by partition already.

    Bounds are values, and the log is no place for sensitive ones.
    """
    without = {*contract.without_statistics, *contract.partition_by, *(c.name for c in contract.columns if c.sensitive)}
    return [c for c in contract.columns if c.name not in without and c.type not in ("array<string>", "binary")]


def file_statistics(contract: TableContract, rows: pa.Table) -> str:
    """The statistics of a file that holds `rows`, as the log has them."""
    return statistics_text(rows, [each for each in with_statistics(contract) if each.name in rows.column_names])


def statistics_text(rows: pa.Table, columns: Iterable[Column]) -> str:
    low: dict[str, Any] = {}
    high: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for each in columns:
        values = rows[each.name]
        nulls[each.name] = values.null_count
        if each.type == "boolean" or values.null_count == len(values):
            continue
        bounds = pc.min_max(values)  # pyright: ignore[reportAttributeAccessIssue]
        if each.type == "double" and _has_nan(values):
            continue
        first, last = _plain(bounds["min"]), _plain(bounds["max"])
        low[each.name] = first[:_LONGEST_TEXT] if isinstance(first, str) else first
        high[each.name] = upper_bound(last) if isinstance(last, str) else last
    told = {"numRecords": rows.num_rows, "minValues": low, "maxValues": high, "nullCount": nulls}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def upper_bound(text: str) -> str:
    """A text that is not below `text` and not much longer than need be."""
    cut = _LONGEST_TEXT
    if len(text) <= cut:
        return text
    while cut < len(text) and text[cut] == _LAST_CHARACTER:
        cut += 1
    return text if cut == len(text) else text[:cut] + _LAST_CHARACTER


def _has_nan(values: pa.ChunkedArray) -> bool:
    """Infinity is no JSON number, so it counts as well."""
    return not pc.all(pc.is_finite(values)).as_py()  # pyright: ignore[reportAttributeAccessIssue]


def _plain(value: pa.Scalar) -> Any:
    """The value as JSON has it. Arrow would load pandas for moments in time, so they are converted here."""
    if pa.types.is_timestamp(value.type):
        moment = _EPOCH + timedelta(microseconds=value.value)
        return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")
    held = value.as_py()
    if isinstance(held, date):
        return held.isoformat()
    if isinstance(held, float):
        assert math.isfinite(held)
    return held
