"""The one way into a table: stage, plan, execute, report.

Invariants: a table is as before or as after, never between. A write and the ledger entries of its partitions
are one Delta commit. A write that was committed is not done again, whoever repeats it. Nothing outside the
write's partitions changes. Anything unknown stops the write.

Cost: one pass over the batch, one look at the log, and the files that the batch's partitions and owners touch.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from deltalake.schema import ArrayType, Field, PrimitiveType

from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import ColumnType, TableContract
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.diagnostics import Diagnostic, collecting, phase, report, seconds_by_phase
from lakehouse_assets.core.effects import reached
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.core.settings import Executor
from lakehouse_assets.lake.batch import Batch, WorkerRows
from lakehouse_assets.lake.commit_log import is_plain
from lakehouse_assets.lake.concurrency import holding, retried
from lakehouse_assets.lake.contents import current_content
from lakehouse_assets.lake.ledger import Entry, Ledger, new_entry, note
from lakehouse_assets.lake.local_executor import execute_local
from lakehouse_assets.lake.moved_keys import moved_keys
from lakehouse_assets.lake.outcome import Outcome
from lakehouse_assets.lake.quarantine import judge, set_aside
from lakehouse_assets.lake.replay import replayed
from lakehouse_assets.lake.report import WriteReport
from lakehouse_assets.lake.rows import conform
from lakehouse_assets.lake.spark_executor import aligned, execute_spark
from lakehouse_assets.lake.staging import Staged, stage
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.tables import Lake, commit_files
from lakehouse_assets.lake.worker_executor import execute_files, has_no_key_of
from lakehouse_assets.lake.worker_stage import FileStage, as_frame, check_owned, worker_stage
from lakehouse_assets.plan.matching import belongs
from lakehouse_assets.plan.row_hash import Content
from lakehouse_assets.plan.scope import Scope, check_scopes
from lakehouse_assets.plan.sql_text import literal
from lakehouse_assets.plan.write_plan import (
    TableFacts,
    WritePlan,
    WriteRequest,
    check_owners,
    evolved,
    idempotency_key,
    plan_write,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PART = "upsert"


@dataclass(frozen=True, kw_only=True)
class _Job:
    """One write as it was asked for."""

    contract: TableContract
    batch: Batch
    partitions: Mapping[str, Scope]
    request: WriteRequest
    run_id: str


class UpsertService:
    """Writes batches into one lake."""

    def __init__(self, lake: Lake, *, spark: "Callable[[], SparkSession]", executor: Executor = "auto") -> None:
        self._lake = lake
        self._spark = spark
        self._executor: Executor = executor

    def write(
        self, contract: TableContract, batch: Batch, partitions: Mapping[str, Scope], *, run_id: str
    ) -> WriteReport:
        """Write `batch` as the rows of the named partitions, each of which is a scope of the table."""
        _check_keys(contract, batch, partitions)
        job = _job(contract, batch, partitions, run_id)
        with collecting() as diagnostics:
            reached("write: before staging")
            if self._was_committed(job):
                with self._holding(job):
                    done = self._told(self._replayed(job), diagnostics)
            else:
                with ExitStack() as staging:
                    with phase(_PART, contract.name, "stage"):
                        staged = staging.enter_context(self._staged(job))
                    reached("write: after staging")
                    with self._holding(job):
                        done = self._told(self._write(job, staged), diagnostics)
        reached("write: after report")
        report("write", contract.name, done.action, rows=done.rows_changed, seconds=sum(done.seconds.values()))
        return done

    def plan(self, contract: TableContract, batch: Batch, partitions: Mapping[str, Scope], *, run_id: str) -> WritePlan:
        """The plan that `write` would carry out now."""
        job = _job(contract, batch, partitions, run_id)
        with self._staged(job) as staged:
            return self._plan_now(job, staged)

    def _staged(self, job: _Job) -> AbstractContextManager[Staged]:
        """The batch held still: by whoever has its rows."""
        contract, rows = job.contract, job.batch.rows
        if not isinstance(rows, WorkerRows):
            return stage(rows, contract, job.request)
        check_owned(contract)
        if contract.violations == "quarantine":  # the rows that break the contract have to come here
            return stage(as_frame(rows, contract), contract, job.request)
        # Files without a log would look like a table that lost its own.
        table = self._lake.ensure(contract)
        if not is_plain(table):
            return stage(as_frame(rows, contract), contract, job.request)
        return worker_stage(rows, contract, job.request, self._lake.path(contract), run_id=job.run_id)

    def _existing(self, contract: TableContract) -> DeltaTable | None:
        return self._lake.open(contract) if self._lake.exists(contract) else None

    def _plan_now(self, job: _Job, staged: Staged) -> WritePlan:
        """The plan for the table as it is, also where it has not been made yet."""
        table = self._existing(job.contract)
        if table is not None:
            return self._plan(job, staged, table, table_facts(table, job.contract))
        columns = {each.name: each.type for each in job.contract.stored_columns}
        return self._plan(job, staged, None, TableFacts(version=-1, columns=columns))

    def _plan(self, job: _Job, staged: Staged, table: DeltaTable | None, facts: TableFacts) -> WritePlan:
        contract, batch = job.contract, staged.facts
        if table is not None and facts.files and (moved := moved_keys(table, contract, job.request, staged)):
            batch = replace(batch, violations=(*batch.violations, moved))
        if table is not None and isinstance(staged, FileStage) and job.request.strategy == "append_new":
            known = not has_no_key_of(table, contract, job.request, staged)
            batch = replace(batch, all_new=not known)
        path = str(self._lake.path(contract))
        return plan_write(contract, job.request, batch, facts, path=path, executor=self._executor)

    def _write(self, job: _Job, staged: Staged) -> WriteReport:
        contract, request = job.contract, job.request
        aside: list[dict[str, Any]] = []
        if contract.violations == "quarantine" and staged.facts.violations:
            staged, aside = judge(contract, request, staged)
        if aside or not self._lake.exists(contract):
            # Whatever is refused is refused before anything is written or made.
            self._plan_now(job, staged)
        retried(f"table {QUARANTINE.name}", lambda: set_aside(self._lake, contract, request, aside))
        reached("write: after quarantine")
        self._lake.ensure(contract)
        reached("write: after table made")
        return retried(f"table {contract.name}", lambda: self._attempt(job, staged, quarantined=len(aside)))

    def _attempt(self, job: _Job, staged: Staged, *, quarantined: int) -> WriteReport:
        contract = job.contract
        table = self._lake.open(contract)
        if table.transaction_version(job.request.key) is not None:  # the same run, twice at once
            return self._replayed(job)
        with phase(_PART, contract.name, "plan"):
            facts = table_facts(table, contract)
            plan = self._plan(job, staged, table, facts)
            full = evolved(contract, plan)
            previous = Ledger(self._lake).latest([contract])
        if plan.add_columns:
            table.alter.add_columns([_field(name, kind) for name, kind in plan.add_columns])
            table.update_incremental()

        def entries(outcome: Outcome | None) -> tuple[Entry, ...]:
            made: list[Entry] = []
            for key in job.batch.keys:
                scope = job.partitions[key.partition]
                version: str | None = None
                if not contract.partition_by:
                    # Rows are shared; what the partition uses of them is decided by what it was made from.
                    version = fingerprint([key.cursor, key.settings_hash, key.input_versions])
                elif outcome is not None:
                    before = current_content(table, full, facts, scope, previous.get((key.asset, key.partition)))
                    version = _after(full, scope, before, outcome).version
                made.append(replace(new_entry(key, run_id=job.run_id), data_version=version))
            return tuple(made)

        def commit_note(outcome: Outcome | None) -> str:
            return note(entries(outcome))

        with phase(_PART, contract.name, "commit"):
            if plan.executor == "workers":
                assert isinstance(staged, FileStage)
                outcome = execute_files(table, full, plan, facts, staged, commit_note)
            elif plan.executor == "delta-rs":
                outcome = execute_local(table, full, plan, _local_batch(full, staged, job.run_id), commit_note)
            else:
                spark = self._spark()
                frame = _spark_batch(full, staged.frame(spark), job.run_id)
                contents = staged.contents(full) if plan.action in ("append", "replace") else {}
                outcome = execute_spark(spark, table, full, plan, frame, staged.facts, contents, commit_note)
        reached("write: after commit")
        version = facts.version if outcome.version is None else outcome.version
        final = tuple(replace(entry, table_version=version) for entry in entries(outcome))
        with phase(_PART, contract.name, "ledger"):
            Ledger(self._lake).record(contract, known=final)
        reached("write: after ledger")
        files = commit_files(self._lake.path(contract), outcome.version)
        return WriteReport(
            write_key=job.request.key,
            asset=contract.name,
            run_id=job.run_id,
            partitions=tuple(job.partitions),
            strategy=job.request.strategy,
            action=plan.action,
            executor=plan.executor,
            executor_reason=plan.executor_reason,
            rows_inserted=outcome.inserted,
            rows_updated=outcome.updated,
            rows_deleted=outcome.deleted,
            rows_unchanged=outcome.unchanged,
            rows_quarantined=quarantined,
            files_added=files.added,
            files_removed=files.removed,
            bytes_added=files.bytes_added,
            files_total=plan.pruning.total,
            files_touched=plan.pruning.touched,
            files_unbounded=plan.pruning.unbounded,
            version_before=facts.version,
            version_after=version,
            seconds={},
            entries=final,
            written_at=datetime.now(UTC),
        )

    def _was_committed(self, job: _Job) -> bool:
        table = self._existing(job.contract)
        return table is not None and table.transaction_version(job.request.key) is not None

    def _replayed(self, job: _Job) -> WriteReport:
        return replayed(self._lake, job.contract, job.partitions, job.request, job.run_id)

    def _holding(self, job: _Job) -> AbstractContextManager[None]:
        return holding(self._lake.root, job.contract, job.request.scopes)

    def _told(self, done: WriteReport, diagnostics: list[Diagnostic]) -> WriteReport:
        """The report with its seconds, kept in `writes`."""
        done = replace(done, seconds=seconds_by_phase(diagnostics), written_at=datetime.now(UTC))
        row = pa.Table.from_pylist([done.as_row()], schema=arrow_schema(WRITES.columns))
        retried(f"table {WRITES.name}", lambda: write_deltalake(self._lake.ensure(WRITES), row, mode="append"))
        return done


def _job(contract: TableContract, batch: Batch, partitions: Mapping[str, Scope], run_id: str) -> _Job:
    request = WriteRequest(
        scopes=tuple(partitions.values()) if contract.partition_by else (),
        strategy=batch.strategy or contract.strategy,
        owners=None if batch.owners is None else tuple(sorted(set(batch.owners))),
        key=idempotency_key(run_id, contract.name, list(partitions)),
    )
    check_scopes(contract, request.scopes)
    check_owners(contract, request)
    return _Job(contract=contract, batch=batch, partitions=partitions, request=request, run_id=run_id)


def _check_keys(contract: TableContract, batch: Batch, partitions: Mapping[str, Scope]) -> None:
    """A batch speaks for all partitions of its run, or rows of those it says nothing of would be deleted."""
    named = {key.partition for key in batch.keys}
    if named != set(partitions):
        raise BadInputError(
            subject=f"write to {contract.name}",
            seen=f"the batch is of partitions {sorted(named)}, the run of {sorted(partitions)}",
            why="rows of partitions that only one of them names would be lost, or answered for by nobody",
            remedy="give the batch one key for each partition of the run",
        )


def _after(contract: TableContract, scope: Scope, before: Content, outcome: Outcome) -> Content:
    content = Content() if outcome.replaces else before
    for values, change in outcome.changes.items():
        if belongs(contract, values, scope):
            content = content.plus(change.added).minus(change.removed)
    return content


def _local_batch(contract: TableContract, staged: Staged, run_id: str) -> pa.Table:
    present = [name for name in contract.column_names if name in staged.facts.columns]
    rows = conform(staged.arrow(present), contract.columns)
    if contract.audited:
        now = pa.scalar(datetime.now(UTC), pa.timestamp("us", tz="UTC"))
        rows = rows.append_column("written_at", pa.repeat(now, rows.num_rows))
        rows = rows.append_column("written_by", pa.repeat(pa.scalar(run_id), rows.num_rows))
    return rows


def _spark_batch(contract: TableContract, frame: "DataFrame", run_id: str) -> "DataFrame":
    rows = aligned(frame, contract.columns)
    if contract.audited:
        now = literal(datetime.now(UTC), "spark")
        rows = rows.selectExpr("*", f"{now} AS written_at", f"{literal(run_id, 'spark')} AS written_by")
    return rows


def _field(name: str, kind: ColumnType) -> Field:
    names = {"int": "integer", "bigint": "long"}
    if kind == "array<string>":
        return Field(name, ArrayType(PrimitiveType("string"), contains_null=True), nullable=True)
    return Field(name, PrimitiveType(names.get(kind, kind)), nullable=True)
