"""Rows in by high-water mark: after the source was inspected, decide, then land the rows with their mark.

Invariant: the mark is the cursor of the ledger entry in the commit that holds the rows. A kill before the commit leaves
both as they were, a kill after it leaves both moved; the next run goes on from there. A run that finds nothing new
commits nothing: its mark would say no more than the one that is there.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakehouse_assets.contracts.ingest import Ingest, SqlProject, ingest_contract
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.effects import reached
from lakehouse_assets.lake.batch import Batch, StreamedRows
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.report import WriteReport
from lakehouse_assets.lake.scan import relation as lake_relation
from lakehouse_assets.lake.table_columns import mark_numbers, refit
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.upsert import UpsertService
from lakehouse_assets.plan.code_version import code_version
from lakehouse_assets.plan.gaps import Gap, counting_query, gap_query, gaps_between, lake_counting_query
from lakehouse_assets.plan.ingest_plan import IngestPlan, plan_ingest
from lakehouse_assets.plan.marks import Mark
from lakehouse_assets.plan.staleness import MaterializationKey
from lakehouse_assets.sources.sql.database import SourceDatabase
from lakehouse_assets.sources.sql.inspection import NO_PARTITION, Inspection, source_of, whole_literals
from lakehouse_assets.sources.sql.passing import Counts, any_of, passing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PART = "ingest"


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
    """None where nothing new came: then nothing was committed, and the mark stays where it was."""

    @property
    def mark(self) -> Mark:
        """The mark that the table has now."""
        return self.plan.mark if self.writes or self.plan.since is None else self.plan.since

    def count(self, name: str) -> int:
        return sum(getattr(each, name) for each in self.writes)


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
    counts, contract = Counts(), inspection.contract
    if not inspection.has_rows:
        refit(lake, contract)
    writes: list[WriteReport] = []
    since = {NO_PARTITION: inspection.cursor} if inspection.cursor else {}

    def write(rows: "StreamedRows | DataFrame", *, run_id: str, if_changed: bool) -> WriteReport:
        batch = Batch(
            rows=rows,
            keys=(_key(ingest, contract, plan.mark.text),),
            owners=None if plan.deletes_missing else (),
            strategy="upsert" if plan.deletes_missing else None,
            since=since,
            if_changed=if_changed,
        )
        done = service.write(contract, batch, {NO_PARTITION: ()}, run_id=run_id)
        writes.extend([done] if done.committed else [])
        return done

    read = 0
    with source_of(project, ingest) as source, source.reading():
        rows = passing(source.rows(plan.query, contract.columns), ingest, plan, counts)
        # A window without rows is left unread: the next one begins where it began, and finds whatever turns up in it.
        if plan.mode != "window" or (rows := any_of(rows)) is not None:
            done = write(rows, run_id=run_id, if_changed=not plan.moves_mark)
            read = done.rows_inserted + done.rows_updated + done.rows_unchanged
    mark_numbers(lake, contract)
    if writes:
        since = {NO_PARTITION: plan.mark.text}
    gaps: tuple[Gap, ...] = ()
    # Where rows tell their transaction, the window's query has found those that came late.
    found = ingest.gaps == "reread" and inspection.facts.has_transaction_ids
    if plan.mode == "window" and ingest.gaps != "off" and not found:
        with source_of(project, ingest) as source, source.reading():
            gaps = _gaps(lake, source, ingest, inspection, plan.mark)
            if gaps and ingest.gaps == "reread":
                literals = whole_literals(source, plan.mark.clock)
                query = gap_query(ingest, inspection.select, source.kind, gaps, literals, inspection.facts.shape)
                late = passing(source.rows(query, contract.columns), ingest, plan, counts)
                done = write(late, run_id=f"{run_id}-gaps", if_changed=True)
                read += done.rows_inserted + done.rows_updated + done.rows_unchanged
                counts.late = done.rows_inserted + done.rows_updated
    if counts.late or gaps:
        report(_PART, ingest.name, "rows behind the mark", level="warning", rows=counts.late, ranges=len(gaps))
    reached("ingest: after land")
    # Rows of a frame are counted by Spark, not by us.
    rows_read = read if inspection.facts.kind == "jdbc" else counts.read
    return Landing(plan=plan, rows_read=rows_read, rows_late=counts.late, gaps=gaps, writes=tuple(writes))


def set_mark(
    service: UpsertService, contract: TableContract, ingest: Ingest, mark: Mark, *, run_id: str
) -> WriteReport:
    """Move the mark by hand: a commit without rows, told of in `writes` like any other."""
    rows = StreamedRows(batches=iter(()))
    batch = Batch(rows=rows, keys=(_key(ingest, contract, mark.text),), owners=(), strategy="upsert")
    return service.write(contract, batch, {NO_PARTITION: ()}, run_id=run_id)


def _key(ingest: Ingest, contract: TableContract, cursor: str) -> MaterializationKey:
    return MaterializationKey(
        asset=ingest.name,
        partition=NO_PARTITION,
        cursor=cursor,
        code_version=code_version(plan_ingest, ingest_contract, parameters=[contract.version]),
        settings_hash=ingest.settings_hash,
        policy_hash=contract.policy_hash,
    )


def _gaps(lake: Lake, source: SourceDatabase, ingest: Ingest, inspection: Inspection, mark: Mark) -> tuple[Gap, ...]:
    kind, shape, contract = source.kind, inspection.facts.shape, inspection.contract
    weights = [name for name in contract.key if contract.column(name).type in ("int", "bigint")]
    query = counting_query(ingest, kind, mark, whole_literals(source, mark.clock), shape, weights)
    there = {str(row["range_name"]): (int(row["row_count"]), int(row["cursor_sum"])) for row in source.answer(query)}
    with local_sql() as connection:
        rows = lake_relation(lake, contract)
        held = connection.execute(lake_counting_query(ingest, kind, mark, rows, shape, weights)).fetchall()
    return gaps_between(ingest, mark, there, {name: (rows, total) for name, rows, total in held})
