"""The one way into a table: stage, plan, execute, report.

Invariants: a table is as before or as after, never between. A write and the ledger entries of its partitions
are one Delta commit. A write that was committed is not done again, whoever repeats it. Nothing outside the
write's partitions changes. Anything unknown stops the write.

Cost: one pass over the batch, one look at the log, and the files that the batch's partitions and owners touch.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
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
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.concurrency import holding, retried
from lakehouse_assets.lake.contents import current_content
from lakehouse_assets.lake.ledger import Entry, Ledger, new_entry, note
from lakehouse_assets.lake.local_executor import execute_local
from lakehouse_assets.lake.moved_keys import moved_keys
from lakehouse_assets.lake.outcome import Outcome
from lakehouse_assets.lake.quarantine import judge, set_aside
from lakehouse_assets.lake.replay import replayed
from lakehouse_assets.lake.report import WriteReport
from lakehouse_assets.lake.spark_executor import aligned, execute_spark
from lakehouse_assets.lake.staging import Staged, conform, stage
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.tables import Lake, commit_files
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
        request = self._request(contract, batch, partitions, run_id)
        with collecting() as diagnostics:
            reached("write: before staging")
            if self._was_committed(contract, request):
                with holding(self._lake.root, contract, request.scopes):
                    done = self._told(replayed(self._lake, contract, partitions, request, run_id), diagnostics)
            else:
                with phase(_PART, contract.name, "stage"):
                    staging = stage(batch.rows, contract, request)
                    staged = staging.__enter__()
                try:
                    reached("write: after staging")
                    with holding(self._lake.root, contract, request.scopes):
                        written = self._write(contract, batch, partitions, request, staged, run_id)
                        done = self._told(written, diagnostics)
                finally:
                    staging.__exit__(None, None, None)
        reached("write: after report")
        report("write", contract.name, done.action, rows=done.rows_changed, seconds=sum(done.seconds.values()))
        return done

    def plan(self, contract: TableContract, batch: Batch, partitions: Mapping[str, Scope], *, run_id: str) -> WritePlan:
        """The plan that `write` would carry out now."""
        request = self._request(contract, batch, partitions, run_id)
        with stage(batch.rows, contract, request) as staged:
            return self._plan(contract, request, staged, self._existing(contract))

    def _request(
        self, contract: TableContract, batch: Batch, partitions: Mapping[str, Scope], run_id: str
    ) -> WriteRequest:
        request = WriteRequest(
            scopes=tuple(partitions.values()) if contract.partition_by else (),
            strategy=batch.strategy or contract.strategy,
            owners=batch.owners if batch.owners is None or not batch.owners else tuple(sorted(set(batch.owners))),
            key=idempotency_key(run_id, contract.name, list(partitions)),
        )
        check_scopes(contract, request.scopes)
        check_owners(contract, request)
        return request

    def _existing(self, contract: TableContract) -> DeltaTable | None:
        return self._lake.open(contract) if self._lake.exists(contract) else None

    def _plan(
        self, contract: TableContract, request: WriteRequest, staged: Staged, table: DeltaTable | None
    ) -> WritePlan:
        path = str(self._lake.path(contract))
        batch = staged.facts
        if table is None:
            facts = TableFacts(version=-1, columns={each.name: each.type for each in contract.stored_columns})
        else:
            facts = table_facts(table, contract)
            if facts.files and (moved := moved_keys(table, contract, request, staged)):
                batch = replace(batch, violations=(*batch.violations, moved))
        return plan_write(contract, request, batch, facts, path=path, executor=self._executor)

    def _write(
        self,
        contract: TableContract,
        batch: Batch,
        partitions: Mapping[str, Scope],
        request: WriteRequest,
        staged: Staged,
        run_id: str,
    ) -> WriteReport:
        aside: list[dict[str, Any]] = []
        if contract.violations == "quarantine" and staged.facts.violations:
            staged, aside = judge(contract, request, staged)
        if aside or not self._lake.exists(contract):
            # Whatever is refused is refused before anything is written or made.
            self._plan(contract, request, staged, self._existing(contract))
        retried(f"table {QUARANTINE.name}", lambda: set_aside(self._lake, contract, request, aside))
        reached("write: after quarantine")
        self._lake.ensure(contract)
        reached("write: after table made")
        return retried(
            f"table {contract.name}",
            lambda: self._attempt(contract, batch, partitions, request, staged, run_id, len(aside)),
        )

    def _attempt(
        self,
        contract: TableContract,
        batch: Batch,
        partitions: Mapping[str, Scope],
        request: WriteRequest,
        staged: Staged,
        run_id: str,
        quarantined: int,
    ) -> WriteReport:
        table = self._lake.open(contract)
        if table.transaction_version(request.key) is not None:  # the same run, twice at once
            return replayed(self._lake, contract, partitions, request, run_id)
        with phase(_PART, contract.name, "plan"):
            facts = table_facts(table, contract)
            plan = self._plan(contract, request, staged, table)
            full = evolved(contract, plan)
            previous = Ledger(self._lake).latest([contract])
        if plan.add_columns:
            table.alter.add_columns([_field(name, kind) for name, kind in plan.add_columns])
            table.update_incremental()

        def entries(outcome: Outcome | None) -> tuple[Entry, ...]:
            made: list[Entry] = []
            for key in batch.keys:
                scope = partitions[key.partition]
                version: str | None = None
                if not contract.partition_by:
                    # Rows are shared; what the partition uses of them is decided by what it was made from.
                    version = fingerprint([key.cursor, key.settings_hash, key.input_versions])
                elif outcome is not None:
                    before = current_content(table, full, facts, scope, previous.get((key.asset, key.partition)))
                    version = _after(full, scope, before, outcome).version
                made.append(replace(new_entry(key, run_id=run_id), data_version=version))
            return tuple(made)

        carried: list[str] = []

        def commit_note(outcome: Outcome | None) -> str:
            carried.append(note(entries(outcome)))
            return carried[0]

        with phase(_PART, contract.name, "commit"):
            if plan.executor == "delta-rs":
                outcome = execute_local(table, full, plan, _local_batch(full, staged, run_id), commit_note)
            else:
                spark = self._spark()
                frame = _spark_batch(full, staged.frame(spark), run_id)
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
            write_key=request.key,
            asset=contract.name,
            run_id=run_id,
            partitions=tuple(partitions),
            strategy=request.strategy,
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

    def _was_committed(self, contract: TableContract, request: WriteRequest) -> bool:
        return self._lake.exists(contract) and self._lake.open(contract).transaction_version(request.key) is not None

    def _told(self, done: WriteReport, diagnostics: list[Diagnostic]) -> WriteReport:
        """The report with its seconds, kept in `writes`."""
        done = replace(done, seconds=seconds_by_phase(diagnostics), written_at=datetime.now(UTC))
        row = pa.Table.from_pylist([done.as_row()], schema=arrow_schema(WRITES.columns))
        retried(f"table {WRITES.name}", lambda: write_deltalake(self._lake.ensure(WRITES), row, mode="append"))
        return done


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
