"""High-water marks: how far a source has been read. A mark is the cursor of its table's ledger entry.

Invariant: everything before the mark, in the half-open sense, is in the table; the commit that moves the mark is the
commit that holds the rows.
"""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.core.hashing import json_text


@dataclass(frozen=True, kw_only=True)
class Mark:
    """Rows with an earlier timestamp, or a smaller id, have been read."""

    timestamp: datetime | None = None
    id: int | None = None
    clock: datetime
    """The source's clock when it was read: a later reading that is earlier shows that the clock went back."""
    snapshot: str | None = None
    """The source's own word for what was visible (PostgreSQL's pg_snapshot), where it has one."""
    columns: str
    """Fingerprint of the source's columns."""
    reason: str = ""
    """Why somebody set it by hand; empty where a run moved it."""
    by: str = ""
    """Who that was."""

    @property
    def text(self) -> str:
        """Goes into the ledger entry's `cursor`."""
        held = asdict(self)
        for name in ("timestamp", "clock"):
            held[name] = held[name].astimezone(UTC).isoformat() if held[name] else None
        return json_text({"mark": held})

    def says_as_much_as(self, other: "Mark") -> bool:
        """Whether both begin the next window at the same place, over the same columns."""
        return (self.timestamp, self.id, self.columns) == (other.timestamp, other.id, other.columns)

    def __str__(self) -> str:
        parts = [self.timestamp.isoformat() if self.timestamp else "", f"id {self.id}" if self.id is not None else ""]
        return ", ".join(part for part in parts if part) or f"all rows at {self.clock.isoformat()}"


def read_mark(text: str) -> Mark | None:
    """The mark that a ledger entry's cursor tells; None if it is empty: nothing was read, or the mark was reset."""
    if not text:
        return None
    try:
        held: dict[str, Any] = json.loads(text)["mark"]
        moments: dict[str, Any] = {
            "timestamp": datetime.fromisoformat(held["timestamp"]) if held["timestamp"] else None,
            "clock": datetime.fromisoformat(held["clock"]),
        }
        return Mark(**(held | moments))
    except (ValueError, TypeError, KeyError) as error:
        raise LakeStateError(
            subject="mark in the ledger",
            seen=f"{text[:200]!r} is not a mark: {error}",
            why="rows would be left out or read twice",
            remedy="set it with `lakehouse marks set` or begin anew with `lakehouse marks reset`",
        ) from error


@dataclass(frozen=True, kw_only=True)
class PgSnapshot:
    """`xmin:xmax:…` of PostgreSQL: transactions before xmin are over, those from xmax on had not begun."""

    xmin: int
    xmax: int

    @staticmethod
    def of(text: str) -> "PgSnapshot":
        xmin, xmax, _ = text.split(":")
        return PgSnapshot(xmin=int(xmin), xmax=int(xmax))
