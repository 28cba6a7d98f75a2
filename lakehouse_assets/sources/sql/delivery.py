"""Rows out to a database, in four steps: stage what changed, merge it, reconcile, record.

Invariants: the target's own table `lakehouse_deliveries` says how far it has come, and moves in the transaction that
merges the rows. Only changes since that position are sent.

Cost: what changed, twice (sent, and read back to be compared), and one count of the target. A first delivery streams
the whole table in bounded memory.
"""

import json
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

import pyarrow as pa

from lakehouse_assets.contracts.deliveries import DELIVERIES
from lakehouse_assets.contracts.ingest import Delivery, SqlProject
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.core.diagnostics import phase
from lakehouse_assets.core.effects import reached
from lakehouse_assets.core.errors import BadInputError, LakeStateError
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.record_rows import append_rows
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.cursors import Cursor, Way
from lakehouse_assets.plan.delivery_sql import (
    OPERATION,
    Statement,
    adopt_statements,
    create_staging,
    cursor_statement,
    merge_statements,
    new_columns,
    reconciled_statement,
    rows_query,
)
from lakehouse_assets.plan.reconciliation import Tally, differing_ranges
from lakehouse_assets.sources.sql.delivered import Delivered
from lakehouse_assets.sources.sql.outgoing import Sent, all_rows, outgoing, rows_at
from lakehouse_assets.sources.sql.staging_tables import (
    cleaning,
    needing,
    open_target,
    remove,
    remove_earlier,
    staging_table,
)
from lakehouse_assets.sources.sql.target import DeliveryState, MergeCounts, TargetDatabase

_PART = "deliver"
_OPERATION_COLUMN = Column(name=OPERATION, type="string", description="Whether the row is there now, or gone.")


@dataclass(frozen=True, kw_only=True)
class StagedDelivery:
    """What waits in the target to be merged."""

    contract: TableContract
    way: Way
    reason: str
    """Why the feed did not do; empty if it did."""
    staging: str | None
    """None where nothing changed."""
    position: str
    expected: str | None
    """The position that the target has to be at still."""
    makes_target: bool
    added: tuple[Column, ...]
    sent: Tally
    """Of the rows that are there now."""
    gone: int
    lake_rows: int
    reconcile_all: bool
    """Whether the delivery before was never reconciled: then all rows are compared."""

    @property
    def is_idle(self) -> bool:
        """Whether the target is where the lake is already, and was found equal: then nothing is written."""
        if self.staging is not None or self.expected is None or self.reconcile_all:
            return False
        return replace(_cursor(self.position), start=0) == replace(_cursor(self.expected), start=0)

    @property
    def version(self) -> int:
        return _cursor(self.position).end - 1


@dataclass(frozen=True, kw_only=True)
class MergedDelivery:
    staged: StagedDelivery
    counts: MergeCounts

    @property
    def unchanged(self) -> int:
        return self.staged.sent.total - self.counts.inserted - self.counts.updated


@dataclass(frozen=True, kw_only=True)
class Reconciliation:
    """Both sides have equally many rows, and those that were compared by hash are equal. Of others nothing is known:
    somebody may have changed them in the target."""

    merged: MergedDelivery
    target_rows: int
    compared: int


def stage(
    lake: Lake,
    project: SqlProject,
    delivery: Delivery,
    table: Delivered,
    *,
    run_id: str,
    everything: bool = False,
) -> StagedDelivery:
    """Load what changed since the target's position into a staging table of this run.

    Where the position is of another table, as after another version of a model was promoted, or the feed does not tell,
    all rows are loaded, to be compared with the target's.
    """
    contract = table.contract
    own = staging_table(delivery, run_id)
    with (
        phase(_PART, delivery.name, "stage"),
        cleaning(project, delivery, own),
        open_target(project, delivery) as target,
    ):
        remove_earlier(target, delivery)
        held = target.state(delivery.name)
        present = target.table_columns(delivery.table)
        _check_whose(target, delivery, held, present)
        added = (
            ()
            if present is None
            else new_columns(
                contract, present, target.kind, evolve=delivery.schema_policy == "evolve", delivery=delivery.name
            )
        )
        why_all = _why_all(held, added, is_there=present is not None, asked=everything)
        out = outgoing(lake, table, _cursor(held.position) if held else None, why_all=why_all)
        complete = out.changes is None
        staging: str | None = None
        sent = Sent(contract)
        if not out.is_nothing:
            staging = own
            create = create_staging(
                staging, contract, target.kind, with_operation=not complete, becomes_target=present is None
            )
            target.run([Statement(sql=create)])
            columns = contract.columns if complete else (*contract.columns, _OPERATION_COLUMN)
            with needing(project, delivery, staging):
                target.load(staging, sent.counted(map(target.held, out.batches(lake))), columns)
        lake_rows = rows_at(lake, contract, out.cursor)
    staged = StagedDelivery(
        contract=contract,
        way=out.way,
        reason=out.reason,
        staging=staging,
        position=json_text(asdict(out.cursor)),
        expected=held.position if held else None,
        makes_target=present is None,
        added=added,
        sent=sent.tally,
        gone=out.gone,
        lake_rows=lake_rows,
        reconcile_all=held is not None and not held.reconciled,
    )
    reached("deliver: after stage")
    return staged


def merge(project: SqlProject, delivery: Delivery, staged: StagedDelivery, *, run_id: str) -> MergedDelivery:
    """Make the target equal, and move its position, in one transaction."""
    own = staging_table(delivery, run_id)
    with (
        phase(_PART, delivery.name, "merge"),
        cleaning(project, delivery, own),
        open_target(project, delivery) as target,
    ):
        kind, contract = target.kind, staged.contract
        statements: list[Statement] = []
        if staged.staging is not None and staged.makes_target:
            statements = adopt_statements(contract, staged.staging, delivery.table, kind)
        elif staged.staging is not None:
            statements = merge_statements(
                contract, staged.staging, delivery.table, kind, complete=staged.way == "full", added=staged.added
            )
        statements.append(cursor_statement(delivery.name, staged.position, run_id, kind))
        counts = MergeCounts()
        with needing(project, delivery, staged.staging) if staged.staging is not None else nullcontext():
            if not staged.is_idle:
                counts = target.merge(delivery.name, staged.expected, statements)
    if staged.makes_target:
        counts = MergeCounts(inserted=staged.sent.total)
    reached("deliver: after merge")
    return MergedDelivery(staged=staged, counts=counts)


def reconcile(project: SqlProject, delivery: Delivery, merged: MergedDelivery, lake: Lake) -> Reconciliation:
    """Compare the target with what was sent: number of rows, and rows and hash of each range."""
    staged, contract = merged.staged, merged.staged.contract
    with (
        phase(_PART, delivery.name, "reconcile"),
        cleaning(project, delivery, staged.staging),
        open_target(project, delivery) as target,
    ):
        every_row = staged.reconcile_all or staged.makes_target or staged.way == "full"
        wanted = staged.sent
        if staged.reconcile_all and staged.way != "full":
            wanted = Tally()
            for batch in all_rows(lake, contract, _cursor(staged.position)):
                wanted = wanted.with_rows(contract, target.held(batch))
        found = Tally()
        if every_row or staged.staging is not None:
            query = rows_query(contract, delivery.table, None if every_row else staged.staging)
            for batch in target.rows(query, contract.columns):
                found = found.with_rows(contract, batch)
        count = found.total if every_row else target.row_count(delivery.table)
        differing = differing_ranges(wanted, found)
        if differing or count != staged.lake_rows:
            raise LakeStateError(
                subject=f"delivery of {delivery.name}",
                seen=f"the target has {count:,} rows and the lake {staged.lake_rows:,}; "
                f"ranges of keys that differ: {', '.join(f'{each:x}' for each in differing) or 'none of those sent'}",
                why="somebody else writes to the target, or it changes values on their way in",
                remedy="see to that, then deliver everything again: `lakehouse deliver --everything`",
            )
        if not staged.is_idle:
            target.run([reconciled_statement(delivery.name, staged.position, target.kind)])
    reached("deliver: after reconcile")
    return Reconciliation(merged=merged, target_rows=count, compared=found.total)


def record(
    lake: Lake, project: SqlProject, delivery: Delivery, done: Reconciliation, *, run_id: str
) -> dict[str, object]:
    """Remove the staging table and tell what was done."""
    with open_target(project, delivery) as target:
        remove(target, staging_table(delivery, run_id))
    merged = done.merged
    row: dict[str, object] = {
        "delivery": delivery.name,
        "run_id": run_id,
        "way": merged.staged.way,
        "reason": merged.staged.reason,
        "table_name": merged.staged.contract.name,
        "version": merged.staged.version,
        "rows_inserted": merged.counts.inserted,
        "rows_updated": merged.counts.updated,
        "rows_deleted": merged.counts.deleted,
        "rows_unchanged": merged.unchanged,
        "rows_compared": done.compared,
        "target_rows": done.target_rows,
        "delivered_at": datetime.now(UTC),
    }
    if not merged.staged.is_idle:
        append_rows(lake, DELIVERIES, pa.Table.from_pylist([row], schema=arrow_schema(DELIVERIES.columns)))
    reached("deliver: after record")
    return row


def _why_all(held: DeliveryState | None, added: tuple[Column, ...], *, is_there: bool, asked: bool) -> str:
    """Why all rows are sent, as far as the target says; empty if it says nothing of the kind."""
    if asked:
        return "everything was asked for"
    if not is_there:
        return "the target has no table yet"
    if held is None:
        return "nothing was delivered before"
    # New columns there are empty.
    return f"the target lacks {', '.join(each.name for each in added)}" if added else ""


def _cursor(position: str) -> Cursor:
    return Cursor(**json.loads(position))


def _check_whose(
    target: TargetDatabase, delivery: Delivery, held: DeliveryState | None, present: dict[str, str] | None
) -> None:
    """Refuse to make a table equal that is somebody else's."""
    if held is None and present is not None and not delivery.adopt and target.row_count(delivery.table):
        raise BadInputError(
            subject=f"delivery of {delivery.name}",
            seen="the target table has rows already, and this delivery was never made",
            why="rows that the lake has not would be deleted; nothing was written",
            remedy="name another table, or set adopt to true",
        )
