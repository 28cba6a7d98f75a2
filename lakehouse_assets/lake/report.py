"""What a write did, for people, for Dagster and for the table `writes`."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.ledger import Entry


@dataclass(frozen=True, kw_only=True)
class WriteReport:
    write_key: str
    asset: str
    run_id: str
    partitions: tuple[str, ...]
    strategy: str
    action: str
    executor: str
    executor_reason: str
    rows_inserted: int
    rows_updated: int
    rows_deleted: int
    rows_unchanged: int
    rows_quarantined: int
    files_added: int
    files_removed: int
    bytes_added: int
    files_total: int
    files_touched: int
    files_unbounded: int
    version_before: int
    version_after: int
    seconds: dict[str, float]
    entries: tuple[Entry, ...]
    written_at: datetime

    @property
    def rows_changed(self) -> int:
        return self.rows_inserted + self.rows_updated + self.rows_deleted

    @property
    def data_versions(self) -> dict[str, str | None]:
        """Content by partition."""
        return {entry.partition: entry.data_version for entry in self.entries}

    def as_row(self) -> dict[str, Any]:
        """A row of `writes`."""
        row = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "entries"}
        keys = [
            {**asdict(entry.key), "data_version": entry.data_version, "table_version": entry.table_version}
            for entry in self.entries
        ]
        return {**row, "partitions": list(self.partitions), "seconds": json_text(self.seconds), "keys": json_text(keys)}
