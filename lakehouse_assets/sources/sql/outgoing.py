"""The rows of a delivery: all of a table at one version, or what changed since a position, tallied while they pass."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import QueryBuilder

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.change_feed import Changes, read_changes
from lakehouse_assets.lake.rows import conform
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.cursors import Cursor
from lakehouse_assets.plan.delivery_sql import DELETE, OPERATION, UPSERT
from lakehouse_assets.plan.reconciliation import Tally

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


def changes_since(lake: Lake, contract: TableContract, since: Cursor | None) -> Changes | None:
    """What changed since; None if all rows have to be sent."""
    if since is None:
        return None
    changes = read_changes(lake, contract, since, ())
    return None if changes.starts_over else changes


def all_rows(lake: Lake, contract: TableContract, cursor: Cursor) -> Iterator[pa.RecordBatch]:
    """The table at the cursor's end, batch by batch."""
    table = lake.open(contract)
    table.load_as_version(cursor.end - 1)
    listed = ", ".join(f'"{each.name}"' for each in contract.columns)
    for batch in QueryBuilder().register("t", table).execute(f"SELECT {listed} FROM t"):
        yield from conform(pa.Table.from_batches([pa.record_batch(batch)]), contract.columns).to_batches()


def changed_rows(contract: TableContract, changes: Changes) -> Iterator[pa.RecordBatch]:
    for operation, rows in ((DELETE, changes.deleted), (UPSERT, changes.inserted), (UPSERT, changes.after)):
        if rows.num_rows:
            told = conform(rows, contract.columns).append_column(OPERATION, pa.repeat(operation, rows.num_rows))
            yield from told.combine_chunks().to_batches(max_chunksize=_BATCH_ROWS)


def rows_at(lake: Lake, contract: TableContract, cursor: Cursor) -> int:
    table = lake.open(contract)
    table.load_as_version(cursor.end - 1)
    return sum(pa.table(table.get_add_actions(flatten=True))["num_records"].to_pylist())
