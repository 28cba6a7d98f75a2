"""What was written lately, by asset: numbers to watch over time.

Cost: the rows of `writes` since then; older files are passed over by their bounds.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.lake.report import PHASES
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import literal

_CHANGES = ("rows_inserted", "rows_updated", "rows_deleted")


@dataclass(frozen=True, kw_only=True)
class Written:
    """Sums over the writes of one asset."""

    asset: str
    rows_changed: int
    bytes_added: int
    seconds: float


def written_since(lake: Lake, since: datetime) -> list[Written]:
    """In the order of names; assets that were not written are not in it."""
    columns = ["asset", "bytes_added", "seconds", *_CHANGES]
    rows = lake.rows(WRITES, columns=columns, where=f"written_at >= {literal(since, 'datafusion')}")
    rows.sort(key=lambda row: row["asset"])
    return [_summed(asset, list(own)) for asset, own in groupby(rows, key=lambda row: row["asset"])]


def _summed(asset: str, rows: list[dict[str, Any]]) -> Written:
    phases = [json.loads(row["seconds"]) for row in rows]
    return Written(
        asset=asset,
        rows_changed=sum(row[name] for row in rows for name in _CHANGES),
        bytes_added=sum(row["bytes_added"] for row in rows),
        seconds=round(sum(each.get(name, 0.0) for each in phases for name in PHASES), 3),
    )
