"""What waits to be landed: files that are new or changed against what is on record, and the page to go on with."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lakehouse_assets.contracts.files import FileIngest, HttpIngest, Landed, landed_contract
from lakehouse_assets.contracts.landed_sources import LANDED_SOURCES
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import literal

_SHOWN = 20

Known = dict[str, dict[str, Any]]
"""Rows of `landed_sources`, by source."""


@dataclass(frozen=True, kw_only=True)
class LandingPlan:
    """A run, decided. `str()` prints it."""

    name: str
    mode: str
    waiting: tuple[str, ...]
    """Files to be read; of pages, the one to go on with, whose followers only the server knows."""
    unchanged: int

    def __str__(self) -> str:
        more = len(self.waiting) - _SHOWN
        lines = [
            f"ingest {self.name}: {self.mode} ({len(self.waiting):,} to be read, {self.unchanged:,} unchanged)",
            *(f"  read       {each}" for each in self.waiting[:_SHOWN]),
            *([f"             and {more:,} more"] if more > 0 else []),
        ]
        return "\n".join(lines)


def plan_landing(lake: Lake, landed: FileIngest | HttpIngest) -> LandingPlan:
    """What a run would read, by now."""
    known = known_sources(lake, landed)
    if isinstance(landed, HttpIngest):
        begin = last_page(known) or landed.url
        return LandingPlan(name=landed.name, mode="pages", waiting=(begin,), unchanged=max(0, len(known) - 1))
    found = list(looked_at(landed, known))
    new = tuple(str(path) for path, content in found if content is not None)
    return LandingPlan(name=landed.name, mode="files", waiting=new, unchanged=len(found) - len(new))


def looked_at(files: FileIngest, known: Known) -> Iterator[tuple[Path, str | None]]:
    """Each file with the fingerprint of its content; with None if it is on record as it is."""
    setting = fingerprint([files.model_dump_json(exclude={"description", "path"})])
    for path in _found(files.path):
        content = fingerprint([setting, path.read_bytes()])
        yield path, None if known.get(str(path), {}).get("content") == content else content


def last_page(known: Known) -> str | None:
    """The page that no page on record comes after; of several, which other settings left, the one landed last.

    Not by time alone: pages that are recorded together can have the same.
    """
    ends = [row for row in known.values() if row["next_page"] not in known] or known.values()
    last = max(ends, key=lambda row: row["landed_at"], default=None)
    return last["source"] if last else None


def known_sources(lake: Lake, landed: Landed) -> Known:
    """What is on record, by source. Where the table was taken away, what was landed in it counts no more."""
    rows = lake.rows(LANDED_SOURCES, where=f"table_name = {literal(landed.name, 'datafusion')}")
    is_there = lake.exists(landed_contract(landed, {}))
    return {row["source"]: row for row in rows if is_there or row["status"] == "bad"}


def _found(pattern: str) -> list[Path]:
    """The files that a glob names, in order. What stands before its first wildcard is the folder to begin in."""
    parts = Path(pattern).expanduser().absolute().parts
    plain = next((i for i, part in enumerate(parts) if any(sign in part for sign in "*?[")), len(parts) - 1)
    folder, rest = Path(*parts[:plain]), "/".join(parts[plain:])
    return sorted(path for path in folder.glob(rest) if path.is_file())
