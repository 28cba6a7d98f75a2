"""Rows in by high-water mark, in three steps: inspect the source, decide, land the rows with their mark.

Invariant: the mark is the cursor of the ledger entry in the commit that holds the rows. A kill before the commit leaves
both as they were, a kill after it leaves both moved; the next run goes on from there.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakehouse_assets.contracts.ingest import Ingest, SqlProject, ingest_contract
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import phase, report
from lakehouse_assets.core.effects import reached
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.hashing import json_fingerprint
from lakehouse_assets.lake.batch import Batch, StreamedRows
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.report import WriteReport
from lakehouse_assets.lake.scan import relation as lake_relation
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.upsert import UpsertService
from lakehouse_assets.plan.code_version import code_version
from lakehouse_assets.plan.gaps import Gap, counting_query, gap_query, gaps_between, lake_counting_query
from lakehouse_assets.plan.ingest_plan import IngestPlan, SourceFacts, null_column, plan_ingest, relation
from lakehouse_assets.plan.marks import Mark, read_mark
from lakehouse_assets.plan.source_sql import TextShape, quoted, value_literal, with_values
from lakehouse_assets.plan.staleness import MaterializationKey
from lakehouse_assets.sources.sql.database import SourceColumn, SourceDatabase, source_database

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PART = "ingest"
_NO_PARTITION = ""
_ANY_ID = (1 << 63) - 1


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What source and lake say before anything is decided."""

    contract: TableContract
    select: Mapping[str, str]
    """An expression for each column."""
    facts: SourceFacts
    cursor: str
    """The ledger's; empty if there is none."""
    has_rows: bool

    @property
    def mark(self) -> Mark | None:
        return read_mark(self.cursor)


@dataclass(frozen=True, kw_only=True)
class Landing:
    """What came into the lake."""

    plan: IngestPlan
    rows_read: int
    rows_late: int
    """Rows behind the mark that were read after all."""
    gaps: tuple[Gap, ...]
    """Ranges behind the mark in which source and lake differed after the window was in."""
    writes: tuple[WriteReport, ...]
    """None where nothing came: then nothing was written, and the mark stays where it was."""

    @property
    def mark(self) -> Mark:
        """The mark that the table has now."""
        return self.plan.mark if self.writes or self.plan.since is None else self.plan.since

    def count(self, name: str) -> int:
        return sum(getattr(each, name) for each in self.writes)


@dataclass
class _Counts:
    read: int = 0
    late: int = 0


def inspect(lake: Lake, project: SqlProject, ingest: Ingest) -> Inspection:
    """Ask source and lake; nothing is read yet."""
    with phase(_PART, ingest.name, "inspect"), _source(project, ingest) as source:
        state = source.state(ingest.clock)
        literals = _literals(source, state.now)
        rows = with_values(relation(ingest), literals, subject=f"ingest {ingest.name}")
        columns = source.columns(rows)
        _check_columns(ingest, columns)
        contract = ingest_contract(ingest, {each.name: each.type for each in columns})
        asked = _asked(source, ingest, rows)
        shape = TextShape(asked["last"]) if source.kind == "sqlite" and ingest.timestamp and asked["last"] else None
        entry = Ledger(lake).latest([contract]).get((ingest.name, _NO_PARTITION))
        facts = SourceFacts(
            kind=source.kind,
            now=state.now,
            columns=json_fingerprint([[each.name, each.native] for each in columns]),
            oldest_open=state.oldest_open,
            snapshot=state.snapshot,
            has_transaction_ids=ingest.incremental_query is None and source.has_transaction_ids(ingest.table),
            next_id=None if asked["last_id"] is None else int(asked["last_id"]) + 1,
            null_cursors=int(asked["nulls"] or 0),
            shape=shape,
        )
    by_name = {each.name: each for each in columns}
    inspection = Inspection(
        contract=contract,
        select={each.name: source.expression(by_name[each.name], each.type) for each in contract.columns},
        facts=facts,
        cursor=entry.cursor if entry else "",
        has_rows=lake.exists(contract) and bool(lake.size(contract).files),
    )
    reached("ingest: after inspect")
    return inspection


def decide(ingest: Ingest, inspection: Inspection, *, force_first_run: bool = False) -> IngestPlan:
    """The plan of the run; printed, it is the dry run."""
    plan = plan_ingest(
        ingest,
        inspection.select,
        inspection.facts,
        inspection.mark,
        has_rows=inspection.has_rows,
        force_first_run=force_first_run,
    )
    for text in plan.warnings:
        report(_PART, ingest.name, text, level="warning")
    reached("ingest: after decide")
    return plan


def land(
    lake: Lake,
    service: UpsertService,
    project: SqlProject,
    ingest: Ingest,
    inspection: Inspection,
    plan: IngestPlan,
    *,
    run_id: str,
) -> Landing:
    """Bring the rows and the mark into the lake, in one commit."""
    counts = _Counts()
    contract = inspection.contract
    with _source(project, ingest) as source:
        rows = _told(source.rows(plan.query, contract.columns), ingest, plan, counts)
        since = {_NO_PARTITION: inspection.cursor} if inspection.cursor else {}
        writes: list[WriteReport] = []
        if plan.mode != "window" or (rows := _some(rows)) is not None:
            batch = _batch(ingest, contract, rows, plan, since=since)
            writes.append(service.write(contract, batch, {_NO_PARTITION: ()}, run_id=run_id))
            since = {_NO_PARTITION: plan.mark.text}
    gaps: tuple[Gap, ...] = ()
    # Where rows tell their transaction, the window's query has found those that came late.
    found = ingest.gaps == "reread" and inspection.facts.has_transaction_ids
    if plan.mode == "window" and ingest.gaps != "off" and not found:
        with _source(project, ingest) as source:
            gaps = _gaps(lake, source, ingest, inspection, plan.mark)
            if gaps and ingest.gaps == "reread":
                literals = _literals(source, plan.mark.clock)
                query = gap_query(ingest, inspection.select, source.kind, gaps, literals, inspection.facts.shape)
                late = _told(source.rows(query, contract.columns), ingest, plan, counts)
                batch = _batch(ingest, contract, late, plan, since=since)
                writes.append(service.write(contract, batch, {_NO_PARTITION: ()}, run_id=f"{run_id}-gaps"))
                counts.late = writes[-1].rows_inserted + writes[-1].rows_updated
    if inspection.facts.kind == "jdbc":  # Spark has counted them, not we
        counts.read = sum(each.rows_inserted + each.rows_updated + each.rows_unchanged for each in writes)
    if counts.late or gaps:
        report(_PART, ingest.name, "rows behind the mark", level="warning", rows=counts.late, ranges=len(gaps))
    reached("ingest: after land")
    return Landing(plan=plan, rows_read=counts.read, rows_late=counts.late, gaps=gaps, writes=tuple(writes))


def set_mark(
    service: UpsertService, contract: TableContract, ingest: Ingest, mark: Mark, *, run_id: str
) -> WriteReport:
    """Move the mark by hand: a commit without rows, told of in `writes` like any other."""
    rows = StreamedRows(batches=iter(()))
    batch = Batch(rows=rows, keys=(_key(ingest, contract, mark.text),), owners=(), strategy="upsert")
    return service.write(contract, batch, {_NO_PARTITION: ()}, run_id=run_id)


def stored_contract(lake: Lake, ingest: Ingest) -> TableContract | None:
    """The contract of the table as the lake has it, without asking the source; None if it was never made."""
    probe = ingest_contract(ingest, dict.fromkeys(ingest.key, "string"))
    if not lake.exists(probe):
        return None
    types: dict[str, Any] = dict(table_facts(lake.open(probe), probe).columns)
    return ingest_contract(ingest, types)


def _batch(
    ingest: Ingest,
    contract: TableContract,
    rows: "StreamedRows | DataFrame",
    plan: IngestPlan,
    *,
    since: Mapping[str, str],
) -> Batch:
    return Batch(
        rows=rows,
        keys=(_key(ingest, contract, plan.mark.text),),
        owners=None if plan.deletes_missing else (),
        strategy="upsert" if plan.deletes_missing else None,
        since=since,
    )


def _key(ingest: Ingest, contract: TableContract, cursor: str) -> MaterializationKey:
    return MaterializationKey(
        asset=ingest.name,
        partition=_NO_PARTITION,
        cursor=cursor,
        code_version=code_version(plan_ingest, ingest_contract, parameters=[contract.version]),
        settings_hash=ingest.settings_hash,
        policy_hash=contract.policy_hash,
    )


def _source(project: SqlProject, ingest: Ingest) -> AbstractContextManager[SourceDatabase]:
    return source_database(project.connections[ingest.connection], name=ingest.connection)


def _literals(source: SourceDatabase, now: datetime) -> dict[str, str]:
    """Values for a query that stands for all rows."""
    return {"until": value_literal(now, source.kind), "until_id": str(_ANY_ID)}


def _asked(source: SourceDatabase, ingest: Ingest, rows: str) -> Mapping[str, Any]:
    """The largest id, the largest timestamp as text, and how many rows have no cursor value."""
    needed = null_column(ingest)
    if needed is None:
        return {"last_id": None, "last": None, "nulls": 0}
    last_id = f"max({quoted(ingest.id)})" if ingest.id else "NULL"
    last = f"max({quoted(ingest.timestamp)})" if ingest.timestamp and source.kind == "sqlite" else "NULL"
    nulls = f"sum(CASE WHEN {quoted(needed)} IS NULL THEN 1 ELSE 0 END)"
    return source.answer(f"SELECT {last_id} AS last_id, {last} AS last, {nulls} AS nulls FROM {rows}")[0]


def _check_columns(ingest: Ingest, columns: tuple[SourceColumn, ...]) -> None:
    names = [each.name for each in columns]
    missing = [name for name in (*ingest.key, *ingest.cursors, *(c.name for c in ingest.columns)) if name not in names]
    if missing:
        raise BadInputError(
            subject=f"ingest {ingest.name}",
            seen=f"the source has no column {', '.join(dict.fromkeys(missing))}; it has {', '.join(names)}",
            why="rows could not be told apart or found again; nothing was read",
            remedy="name columns that the source has",
        )


def _told(
    rows: "Iterator[pa.RecordBatch] | DataFrame", ingest: Ingest, plan: IngestPlan, counts: _Counts
) -> "StreamedRows | DataFrame":
    """What the upsert service takes; a stream is counted as it passes."""
    return StreamedRows(batches=_counted(rows, ingest, plan, counts)) if isinstance(rows, Iterator) else rows


def _some(rows: "StreamedRows | DataFrame") -> "StreamedRows | DataFrame | None":
    """The rows of a window; None if there are none.

    A window without rows is left unread: the next one begins where it began, and finds whatever turns up in it. So an
    idle source costs no commit.
    """
    if not isinstance(rows, StreamedRows):
        return rows
    first = next((each for each in rows.batches if each.num_rows), None)
    return None if first is None else StreamedRows(batches=chain((first,), rows.batches))


def _counted(
    batches: Iterator[pa.RecordBatch], ingest: Ingest, plan: IngestPlan, counts: _Counts
) -> Iterator[pa.RecordBatch]:
    """Count the rows, and those behind the mark, as they pass."""
    since = plan.since if plan.mode == "window" else None
    bounds = {ingest.timestamp: since.timestamp, ingest.id: since.id} if since else {}
    for batch in batches:
        counts.read += batch.num_rows
        behind = [
            np.asarray(pc.less(batch.column(name), pa.scalar(bound, batch.column(name).type)).fill_null(True))  # pyright: ignore[reportAttributeAccessIssue]
            for name, bound in bounds.items()
            if name is not None and bound is not None
        ]
        counts.late += int(np.logical_and.reduce(behind).sum()) if behind else 0
        yield batch


def _gaps(lake: Lake, source: SourceDatabase, ingest: Ingest, inspection: Inspection, mark: Mark) -> tuple[Gap, ...]:
    kind, shape = source.kind, inspection.facts.shape
    query = counting_query(ingest, kind, mark, _literals(source, mark.clock), shape)
    there = {str(row["range_name"]): (int(row["row_count"]), int(row["cursor_sum"])) for row in source.answer(query)}
    with local_sql() as connection:
        rows = lake_relation(lake, inspection.contract)
        held = connection.execute(lake_counting_query(ingest, kind, mark, rows)).fetchall()
    return gaps_between(ingest, mark, there, {name: (rows, total) for name, rows, total in held})
