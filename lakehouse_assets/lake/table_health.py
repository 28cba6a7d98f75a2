"""How tables are doing: files, small files, bytes on disk, how far readers of their changes are behind.

Cost: the log's present state of each table, a walk over its folder, and the ledger.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.compaction import planned
from lakehouse_assets.lake.maintained import last_done
from lakehouse_assets.lake.table_log import files_on_disk
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.holds import Hold, holds_of


@dataclass(frozen=True, kw_only=True)
class Health:
    table: str
    version: int
    rows: int | None
    files: int
    small_files: int
    bytes: int
    bytes_on_disk: int
    """With what only earlier versions and the change feed have."""
    worth_compacting: int
    """Files that a compaction would save now."""
    cursor_lag: int
    """Versions that the reader who is furthest behind has not read; most of them touch other partitions."""
    furthest_behind: str | None
    last_optimize: datetime | None
    last_vacuum: datetime | None


def table_health(lake: Lake, contracts: Sequence[TableContract], cursors: Sequence[Hold]) -> list[Health]:
    """The health of tables that are there; `cursors` are the holds of those who read their feeds."""
    optimized, vacuumed = last_done(lake, "optimize"), last_done(lake, "vacuum")
    found: list[Health] = []
    for contract in contracts:
        if not lake.exists(contract):
            continue
        size, plan = lake.size(contract), planned(lake, contract)
        readers = [(each.feed_from, each.by) for each in holds_of(contract.name, cursors) if each.feed_from is not None]
        behind = min(readers, default=None)
        found.append(
            Health(
                table=contract.name,
                version=size.version,
                rows=size.rows,
                files=size.files,
                small_files=plan.small,
                bytes=size.bytes,
                bytes_on_disk=sum(file.size for file in files_on_disk(lake.path(contract)).values()),
                worth_compacting=plan.files - plan.files_after,
                cursor_lag=0 if behind is None else size.version + 1 - behind[0],
                furthest_behind=behind[1] if behind is not None and behind[0] <= size.version else None,
                last_optimize=optimized.get(contract.name),
                last_vacuum=vacuumed.get(contract.name),
            )
        )
    return found
