"""Keeps what a run tells of its writes until the run ends: one commit for `writes`, one for the ledger's index.

Invariant: nothing here is needed to know what the tables hold: entries are in the commits that they tell of, and a
reader of the ledger adds what its index lacks. A kill loses the reports of its run's writes, not what they did.

Cost: two commits a run instead of one a write.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import RLock

from lakehouse_assets.contracts.schemas import arrow_rows
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.lake.record_rows import append_rows
from lakehouse_assets.lake.report import WriteReport
from lakehouse_assets.lake.tables import Lake


@dataclass(kw_only=True)
class _Kept:
    scopes: int = 0
    reports: list[WriteReport] = field(default_factory=list[WriteReport])
    written: dict[str, TableContract] = field(default_factory=dict[str, TableContract])


_kept: dict[LakePath, _Kept] = {}
_lock = RLock()


@contextmanager
def bookkeeping(lake: Lake) -> Iterator[None]:
    """Keep reports until the outermost scope of the process ends, whatever ends it."""
    begin(lake)
    try:
        yield
    finally:
        end(lake)


def begin(lake: Lake) -> None:
    with _lock:
        _kept.setdefault(lake.root, _Kept()).scopes += 1


def end(lake: Lake) -> None:
    with _lock:
        kept = _kept[lake.root]
        kept.scopes -= 1
        if not kept.scopes:
            settle(lake)
            del _kept[lake.root]


def keep(lake: Lake, contract: TableContract, report: WriteReport) -> None:
    """Take down a write; at once where no scope is open."""
    with _lock, bookkeeping(lake):
        kept = _kept[lake.root]
        kept.reports.append(report)
        kept.written[contract.name] = contract


def settle(lake: Lake) -> None:
    """Commit what is kept so far, for one who is about to read it."""
    with _lock:
        kept = _kept.get(lake.root)
        if kept is None or not kept.reports:
            return
        append_rows(lake, WRITES, arrow_rows(WRITES.columns, [each.as_row() for each in kept.reports]))
        Ledger(lake).record(*kept.written.values())
        kept.reports, kept.written = [], {}
