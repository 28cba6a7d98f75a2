"""The one way into a table: stage, plan, execute, report.

Invariants: a table is as before or as after, never between. A write and the ledger entries of its partitions
are one Delta commit. A write that was committed is not done again, whoever repeats it. Nothing outside the
write's partitions changes. Anything unknown stops the write.

Cost: one pass over the batch, one look at the log, and the files that the batch's partitions and owners touch.
"""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from deltalake import write_deltalake
from deltalake.exceptions import CommitFailedError
from deltalake.schema import ArrayType, Field, PrimitiveType

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import ColumnType, TableContract
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.diagnostics import collecting, phase, report, seconds_by_phase
from lakehouse_assets.core.effects import reached
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.core.settings import Executor
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.contents import current_content
from lakehouse_assets.lake.ledger import Entry, Ledger, new_entry, note
from lakehouse_assets.lake.local_executor import execute_local
from lakehouse_assets.lake.outcome import Outcome
from lakehouse_assets.lake.quarantine import set_aside
from lakehouse_assets.lake.report import WriteReport
from lakehouse_assets.lake.spark_executor import aligned, execute_spark
from lakehouse_assets.lake.staging import Staged, conform, stage
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.tables import Lake, commit_files
from lakehouse_assets.plan.matching import belongs
from lakehouse_assets.plan.row_hash import Content
from lakehouse_assets.plan.scope import Scope
from lakehouse_assets.plan.sql_text import literal
from lakehouse_assets.plan.write_plan import (
    TableFacts,
    WritePlan,
    WriteRequest,
    evolved,
    idempotency_key,
    plan_write,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ATTEMPTS = 6
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
        request = self._request(contract, batch, partitions, run_id)
        with collecting() as diagnostics:
            reached("write: before staging")
            if self._was_committed(contract, request):
                done = self._replayed(contract, batch, request, run_id)
            else:
                with phase(_PART, contract.name, "stage"):
                    staging = stage(batch.rows, contract, request.scopes)
                    staged = staging.__enter__()
                try:
                    reached("write: after staging")
                    done = self._write(contract, batch, partitions, request, staged, run_id)
                finally:
                    staging.__exit__(None, None, None)
        done = replace(done, seconds=seconds_by_phase(diagnostics), written_at=datetime.now(UTC))
        self._record(done)
        reached("write: after report")
        report("write", contract.name, done.action, rows=done.rows_changed, seconds=sum(done.seconds.values()))
        return done

    def plan(self, contract: TableContract, batch: Batch, partitions: Mapping[str, Scope], *, run_id: str) -> WritePlan:
        """The plan that `write` would carry out now."""
        request = self._request(contract, batch, partitions, run_id)
        with stage(batch.rows, contract, request.scopes) as staged:
            return self._plan(contract, request, staged, self._facts(contract))

    def _request(
        self, contract: TableContract, batch: Batch, partitions: Mapping[str, Scope], run_id: str
    ) -> WriteRequest:
        return WriteRequest(
            scopes=tuple(partitions.values()) if contract.partition_by else (),
            strategy=batch.strategy or contract.strategy,
            owners=batch.owners if batch.owners is None or not batch.owners else tuple(sorted(set(batch.owners))),
            key=idempotency_key(run_id, contract.name, list(partitions)),
        )

    def _facts(self, contract: TableContract) -> TableFacts:
        if self._lake.exists(contract):
            return table_facts(self._lake.open(contract), contract)
        return TableFacts(version=-1, columns={each.name: each.type for each in contract.stored_columns})

    def _plan(self, contract: TableContract, request: WriteRequest, staged: Staged, facts: TableFacts) -> WritePlan:
        path = str(self._lake.path(contract))
        return plan_write(contract, request, staged.facts, facts, path=path, executor=self._executor)

    def _write(
        self,
        contract: TableContract,
        batch: Batch,
        partitions: Mapping[str, Scope],
        request: WriteRequest,
        staged: Staged,
        run_id: str,
    ) -> WriteReport:
        quarantined = 0
        if contract.violations == "quarantine" and staged.facts.violations:
            staged, quarantined = set_aside(self._lake, contract, request, staged)
            reached("write: after quarantine")
        self._plan(
            contract, request, staged, self._facts(contract)
        )  # whatever is refused is refused before a table is made
        self._lake.ensure(contract)
        reached("write: after table made")
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._attempt(contract, batch, partitions, request, staged, run_id, quarantined)
            except CommitFailedError as error:
                self._wait(contract, attempt, error)
            except _spark_conflicts() as error:
                if "DELTA_CONCURRENT" not in str(error) and "DELTA_METADATA_CHANGED" not in str(error):
                    raise
                self._wait(contract, attempt, error)
        raise AssertionError("the last attempt raises")

    def _wait(self, contract: TableContract, attempt: int, error: Exception) -> None:
        if attempt == ATTEMPTS:
            raise LakeStateError(
                subject=f"table {contract.name}",
                seen=f"{ATTEMPTS} attempts met another writer's commit: {error}",
                why="nothing of this write was committed",
                remedy="run it again when the other writer is done",
            ) from error
        report(_PART, contract.name, "another writer was first; planning anew", level="warning", attempt=attempt)
        time.sleep(random.uniform(0, 0.1 * 2**attempt))

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
        with phase(_PART, contract.name, "plan"):
            facts = table_facts(table, contract)
            plan = self._plan(contract, request, staged, facts)
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

    def _replayed(self, contract: TableContract, batch: Batch, request: WriteRequest, run_id: str) -> WriteReport:
        """What to tell of a write that had been committed: its ledger entries, and nothing done."""
        Ledger(self._lake).record(contract)
        stored = Ledger(self._lake).latest([contract])
        found = tuple(stored[(key.asset, key.partition)] for key in batch.keys)
        version = self._lake.open(contract).version()
        return WriteReport(
            write_key=request.key,
            asset=contract.name,
            run_id=run_id,
            partitions=tuple(key.partition for key in batch.keys),
            strategy=request.strategy,
            action="replayed",
            executor="none",
            executor_reason="the write had been committed before",
            rows_inserted=0,
            rows_updated=0,
            rows_deleted=0,
            rows_unchanged=0,
            rows_quarantined=0,
            files_added=0,
            files_removed=0,
            bytes_added=0,
            files_total=0,
            files_touched=0,
            files_unbounded=0,
            version_before=version,
            version_after=version,
            seconds={},
            entries=found,
            written_at=datetime.now(UTC),
        )

    def _record(self, done: WriteReport) -> None:
        row = pa.Table.from_pylist([done.as_row()], schema=arrow_schema(WRITES.columns))
        write_deltalake(self._lake.ensure(WRITES), row, mode="append")


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


def _spark_conflicts() -> tuple[type[Exception], ...]:
    """Spark's errors, if Spark is in use; else none, without loading it."""
    import sys

    errors: Any = sys.modules.get("pyspark.errors")
    return (errors.PySparkException,) if errors is not None else ()
