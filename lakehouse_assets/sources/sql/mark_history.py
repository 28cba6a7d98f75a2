"""The moves of a mark, as the table `writes` keeps them: every commit tells the key it was made with."""

import json
from datetime import datetime
from typing import Any

from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.marks import read_mark
from lakehouse_assets.plan.sql_text import literal


def mark_moves(lake: Lake, name: str) -> list[dict[str, Any]]:
    """Newest first."""
    if not lake.exists(WRITES):
        return []
    rows = lake.rows(
        WRITES, columns=("asset", "run_id", "keys", "written_at"), where=f"asset = {literal(name, 'datafusion')}"
    )
    moves: list[dict[str, Any]] = []
    for row in sorted(rows, key=_moment, reverse=True):
        (key,) = json.loads(row["keys"])
        mark = read_mark(key["cursor"])
        if mark is not None:
            moves.append(
                {
                    "name": name,
                    "timestamp": mark.timestamp,
                    "id": mark.id,
                    "snapshot": mark.snapshot,
                    "moved_at": row["written_at"],
                    "run_id": row["run_id"],
                    "reason": mark.reason or None,
                    "by": mark.by or None,
                    "table_version": key["table_version"],
                }
            )
    return moves


def _moment(row: dict[str, Any]) -> datetime:
    return row["written_at"]
