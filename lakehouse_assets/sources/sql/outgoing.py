"""The rows of a delivery: all of a table at one version, or what changed since a position, tallied while they pass."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import QueryBuilder

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.change_feed import Changes, present_cursor, read_changes
from lakehouse_assets.lake.rows import conform
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.cursors import Cursor, Way
from lakehouse_assets.plan.delivery_sql import DELETE, OPERATION, UPSERT
from lakehouse_assets.plan.reconciliation import Tally
from lakehouse_assets.plan.sql_text import column
from lakehouse_assets.sources.sql.delivered import Delivered

_BATCH_ROWS = 50_000


class Sent:
    """Tallies the rows that are there now while they pass."""

    def __init__(self, contract: TableContract) -> None:
        self._contract = contract
        self.tally = Tally()

    def counted(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            held = batch
            if OPERATION in batch.schema.names:
                held = batch.filter(pc.equal(batch.column(OPERATION), UPSERT))  # pyright: ignore[reportAttributeAccessIssue]
            self.tally = self.tally.with_rows(self._contract, held)
            yield batch


@dataclass(frozen=True, kw_only=True)
class Outgoing:
    """What a delivery has to send: the changes since the target's position, or all rows."""

    contract: TableContract
    cursor: Cursor
    """Where the target is when it has them."""
    way: Way
    reason: str
    """Why the feed did not do; empty if it did."""
    changes: Changes | None
    """None if all rows are sent, to be compared with the target's."""

    @property
    def is_nothing(self) -> bool:
        return self.changes is not None and not self.changes.count

    @property
    def gone(self) -> int:
        return 0 if self.changes is None else self.changes.deleted.num_rows

    def batches(self, lake: Lake) -> Iterator[pa.RecordBatch]:
        return all_rows(lake, self.contract, self.cursor) if self.changes is None else self._changed(self.changes)

    def _changed(self, changes: Changes) -> Iterator[pa.RecordBatch]:
        for operation, rows in ((DELETE, changes.deleted), (UPSERT, changes.inserted), (UPSERT, changes.after)):
            if rows.num_rows:
                told = conform(rows, self.contract.columns).append_column(
                    OPERATION, pa.repeat(operation, rows.num_rows)
                )
                yield from told.combine_chunks().to_batches(max_chunksize=_BATCH_ROWS)


def outgoing(lake: Lake, table: Delivered, since: Cursor | None, *, why_all: str = "") -> Outgoing:
    """What changed since; all rows if `why_all` says why, or where the lake cannot tell what changed.

    A position in another table is one of those: an environment shows another version of a model now.
    """
    contract = table.contract
    if since is None or why_all:
        cursor = present_cursor(lake, contract, until=table.version)
        return Outgoing(contract=contract, cursor=cursor, way="full", reason=why_all, changes=None)
    changes = read_changes(lake, contract, since, (), until=table.version, without_rows_if_full=True)
    reason: str = changes.reason or ""
    if changes.starts_over and since.table != contract.name:
        reason = f"{table.environment or 'the lake'} shows {contract.name} in the place of {since.table}"
    return Outgoing(
        contract=contract,
        cursor=changes.cursor,
        way=changes.way,
        reason=reason,
        changes=None if changes.starts_over else changes,
    )


def all_rows(lake: Lake, contract: TableContract, cursor: Cursor) -> Iterator[pa.RecordBatch]:
    """The table at the cursor's end, batch by batch."""
    table = lake.open(contract)
    table.load_as_version(cursor.end - 1)
    listed = ", ".join(column(each.name, "datafusion") for each in contract.columns)
    for batch in QueryBuilder().register("t", table).execute(f"SELECT {listed} FROM t"):
        yield from conform(pa.Table.from_batches([pa.record_batch(batch)]), contract.columns).to_batches()


def rows_at(lake: Lake, contract: TableContract, cursor: Cursor) -> int:
    table = lake.open(contract)
    table.load_as_version(cursor.end - 1)
    return sum(pa.table(table.get_add_actions(flatten=True))["num_records"].to_pylist())
