"""The account of maintenance: rows of the table `maintenance`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from lakehouse_assets.contracts.maintenance import MAINTENANCE
from lakehouse_assets.contracts.schemas import arrow_rows
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.record_rows import append_rows
from lakehouse_assets.lake.tables import Lake


@dataclass(frozen=True, kw_only=True)
class Done:
    """One thing that was done to one table."""

    asset: str
    action: Literal["optimize", "vacuum", "gc"]
    version: int
    files_before: int
    files_after: int
    rows_deleted: int = 0
    bytes_freed: int = 0
    log_entries: int = 0
    held: Mapping[str, Any] = field(default_factory=dict[str, Any])
    seconds: float


def record(lake: Lake, *done: Done) -> None:
    now = datetime.now(UTC)
    rows = [{**asdict(each), "held": json_text(dict(each.held)), "done_at": now} for each in done]
    if rows:
        append_rows(lake, MAINTENANCE, arrow_rows(MAINTENANCE.columns, rows))


def last_done(lake: Lake, action: str) -> dict[str, datetime]:
    """When each table had this done to it last."""
    last: dict[str, datetime] = {}
    for row in lake.rows(MAINTENANCE, columns=["asset", "action", "done_at"]):
        if row["action"] == action:
            last[row["asset"]] = max(last.get(row["asset"], row["done_at"]), row["done_at"])
    return last
