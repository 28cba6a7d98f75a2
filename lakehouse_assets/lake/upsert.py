"""The one way into a table: stage, plan, execute, report.

Invariants: a table is as before or as after, never between. A write and the ledger entries of its partitions
are one Delta commit. A write that was committed is not done again, whoever repeats it. Nothing outside the
write's partitions changes. Anything unknown stops the write.

Cost: one pass over the batch, one look at the log, and the files that the batch's partitions and owners touch.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
from deltalake import DeltaTable

from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.contracts.schemas import arrow_rows
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import Diagnostic, collecting, phase, report, seconds_by_phase
from lakehouse_assets.core.effects import reached
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake.account import Account
from lakehouse_assets.lake.batch import Batch, StreamedRows, WorkerRows
from lakehouse_assets.lake.bookkeeping import keep
from lakehouse_assets.lake.checked_stage import CheckedStage, as_frame, check_owned
from lakehouse_assets.lake.commit_log import transactions_of
from lakehouse_assets.lake.concurrency import first_value, holding, retried
from lakehouse_assets.lake.execution import execute
from lakehouse_assets.lake.job import Job, check_keys, job_of
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.log_range import changed_since
from lakehouse_assets.lake.moved_keys import moved_keys
from lakehouse_assets.lake.outcome import Outcome
from lakehouse_assets.lake.quarantine import judge
from lakehouse_assets.lake.replay import replayed
from lakehouse_assets.lake.report import WriteReport, report_of
from lakehouse_assets.lake.spark_errors import query_errors
from lakehouse_assets.lake.staging import Staged, stage
from lakehouse_assets.lake.stream_stage import stream_stage
from lakehouse_assets.lake.table_columns import add_columns
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.tables import Lake, commit_files
from lakehouse_assets.plan.scope import Scope
from lakehouse_assets.plan.staleness import MaterializationKey
from lakehouse_assets.plan.write_facts import TableFacts
from lakehouse_assets.plan.write_plan import Executor, WritePlan, evolved, plan_write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PART = "upsert"


@dataclass(frozen=True, kw_only=True)
class _Done:
    """An attempt that came to its end: what is to be told of it."""

    table: DeltaTable
    plan: WritePlan
    account: Account
    outcome: Outcome
    before: int
    """Version of the table that it was planned on."""
    quarantined: int


class UpsertService:
    """Writes batches into one lake."""

    def __init__(
        self,
        lake: Lake,
        *,
        spark: "Callable[[], SparkSession]",
        executor: Executor = "auto",
        because: str = "",
    ) -> None:
        """`because` says why it is `executor`; by default who has the rows writes them."""
        self._lake = lake
        self._spark = spark
        self._executor: Executor = executor
        self._because = because

    def write(
        self, contract: TableContract, batch: Batch, partitions: Mapping[str, Scope], *, run_id: str
    ) -> WriteReport:
        """Write `batch` as the rows of the named partitions, each of which is a scope of the table."""
        check_keys(contract, batch, partitions)
        job = job_of(contract, batch, partitions, run_id)
        with self._blamed(job), collecting() as diagnostics, ExitStack() as staging:
            reached("write: before staging")
            table = self._existing(contract)
            if table is None:
                Ledger(self._lake).forget(contract)
            if table is not None and _was_committed(table, job):
                done = self._told(contract, self._replayed(job), diagnostics)
            else:
                with phase(_PART, contract.name, "stage"):
                    staged = staging.enter_context(self._staged(job))
                reached("write: after staging")
                done = self._told(contract, self._write(job, staged, table), diagnostics)
        reached("write: after report")
        report("write", contract.name, done.action, rows=done.rows_changed, seconds=done.seconds_in_all)
        return done

    def _blamed(self, job: Job) -> AbstractContextManager[None]:
        """Tell what a row that Spark is still to make is to blame for."""
        if isinstance(job.batch.rows, pa.Table | StreamedRows):
            return nullcontext()
        return query_errors(job.batch.subject or f"batch for {job.contract.name}", quiet=job.batch.quiet)

    def plan(self, contract: TableContract, batch: Batch, partitions: Mapping[str, Scope], *, run_id: str) -> WritePlan:
        """The plan that `write` would carry out now."""
        job = job_of(contract, batch, partitions, run_id)
        table = self._existing(contract)
        with self._staged(job) as staged:
            return self._plan_now(job, staged, table)

    def _staged(self, job: Job) -> AbstractContextManager[Staged]:
        """The batch held still: by whoever has its rows."""
        contract, rows = job.contract, job.batch.rows
        if isinstance(rows, StreamedRows):
            return stream_stage(rows, contract, job.request, self._lake.root)
        if not isinstance(rows, WorkerRows):
            return stage(rows, contract, job.request)
        if contract.violations == "quarantine" or self._executor == "delta-rs":
            check_owned(contract)  # all rows are made before any is written
            return stage(as_frame(rows, contract), contract, job.request)
        return nullcontext(CheckedStage(rows, contract, job.request))

    def _existing(self, contract: TableContract) -> DeltaTable | None:
        return self._lake.taken_if_there(contract)

    def _plan_now(self, job: Job, staged: Staged, table: DeltaTable | None) -> WritePlan:
        """The plan for the table as it is, also where it has not been made yet."""
        if table is not None:
            return self._plan(job, staged, table, table_facts(table, job.contract))
        columns = {each.name: each.type for each in job.contract.stored_columns}
        return self._plan(job, staged, None, TableFacts(version=-1, columns=columns))

    def _plan(self, job: Job, staged: Staged, table: DeltaTable | None, facts: TableFacts) -> WritePlan:
        contract, batch = job.contract, staged.facts
        if table is not None and facts.files and (moved := moved_keys(table, contract, job.request, staged)):
            batch = replace(batch, violations=(*batch.violations, moved))
        path = str(self._lake.path(contract))
        return plan_write(
            contract, job.request, batch, facts, path=path, executor=self._executor, because=self._because
        )

    def _write(self, job: Job, staged: Staged, table: DeltaTable | None) -> WriteReport:
        with holding(self._lake.locks, job.contract, job.request.scopes):
            done = self._committed(job, staged, table)
        return self._replayed(job) if done is None else self._accounted(done)

    def _committed(self, job: Job, staged: Staged, table: DeltaTable | None) -> "_Done | None":
        """What was done, when no other writer needs to wait for it any more; None if it had been done before."""
        contract, request = job.contract, job.request
        aside: list[dict[str, Any]] = []
        if contract.violations == "quarantine" and staged.facts.violations:
            staged, aside = judge(contract, request, staged)
        if aside or table is None:
            # Whatever is refused is refused before anything is written or made.
            self._plan_now(job, staged, self._existing(contract))
        if aside:
            self._set_aside(job, aside)
        reached("write: after quarantine")
        held = table or self._lake.ensure(contract)
        reached("write: after table made")
        known = -1 if table is None else table.version()  # one that was made meanwhile may have it already
        return retried(
            self._lake, contract, lambda: self._attempt(job, staged, held, known=known, quarantined=len(aside))
        )

    def _set_aside(self, job: Job, records: list[dict[str, Any]]) -> None:
        """Keep the rows that break the contract; what an earlier attempt at the same write kept is kept once."""
        key = MaterializationKey(
            asset=QUARANTINE.name, partition="", cursor=job.request.key, code_version="", settings_hash=""
        )
        batch = Batch(rows=arrow_rows(QUARANTINE.columns, records), keys=(key,), owners=())
        service = UpsertService(self._lake, spark=self._spark, executor="delta-rs", because="its rows are always few")
        service.write(QUARANTINE, batch, {"": ()}, run_id=f"{job.request.key}-{uuid4().hex}")
        report("quarantine", job.contract.name, "rows were set aside", level="warning", rows=len(records))

    def _attempt(self, job: Job, staged: Staged, table: DeltaTable, *, known: int, quarantined: int) -> "_Done | None":
        """Write to the table as it is now; up to version `known` it has nothing of this job."""
        contract = job.contract
        table.update_incremental()
        if self._was_committed_since(known, table, job):  # the same run, twice at once
            return None
        self._refuse_overtaken(job, table)
        with phase(_PART, contract.name, "plan"):
            facts = table_facts(table, contract)
            plan = self._plan(job, staged, table, facts)
            full = evolved(contract, plan)
            account = Account.of(self._lake, job, full, plan, table, facts)
        add_columns(table, plan.add_columns)
        planned_on = table.version()
        with phase(_PART, contract.name, "commit"):
            outcome = execute(table, full, plan, facts, staged, account, spark=self._spark)
        if outcome.version is not None:
            reached("write: after commit")
        if plan.executor == "spark" and self._was_met(job, planned_on, outcome.version):
            # Spark lets pass what met no row of this write: what the partitions hold is counted.
            return None
        return _Done(
            table=table, plan=plan, account=account, outcome=outcome, before=facts.version, quarantined=quarantined
        )

    def _accounted(self, done: "_Done") -> WriteReport:
        """Tell what a write did, and let the ledger follow what it committed."""
        job, outcome, final = done.account.job, done.outcome, ()
        if outcome.version is not None:
            final = tuple(replace(entry, table_version=outcome.version) for entry in done.account.entries(outcome))
            with phase(_PART, job.contract.name, "ledger"):
                Ledger(self._lake).follow(job.contract, outcome.version, final, in_commit=outcome.noted)
            reached("write: after ledger")
            self._lake.give_back(job.contract, done.table)
        files = commit_files(self._lake.path(job.contract), outcome.version)
        return report_of(job, done.plan, outcome, files, final, before=done.before, quarantined=done.quarantined)

    def _was_committed_since(self, known: int, table: DeltaTable, job: Job) -> bool:
        """Whether a commit after version `known` is of this job: by these commits, if the log has them yet."""
        for version in range(known + 1, table.version() + 1):
            told = transactions_of(self._lake.path(job.contract), version)
            if told is None:
                return _was_committed(table, job)
            if job.request.key in told:
                return True
        return False

    def _was_met(self, job: Job, planned_on: int, version: int | None) -> bool:
        """Whether others have committed to the partitions between the plan and this write's commit."""
        if version is None or version <= planned_on + 1:
            return False
        values = [first_value(job.contract, scope) for scope in job.request.scopes]
        between = dict.fromkeys((str(value) for value in values), planned_on)
        return not values or None in values or bool(changed_since(self._lake.path(job.contract), between, version - 1))

    def _refuse_overtaken(self, job: Job, table: DeltaTable) -> None:
        """Rows that tell what changed since a state are worth nothing on another."""
        since = job.batch.since
        latest = Ledger(self._lake).newest(job.contract, table, since) if since else {}
        for partition, cursor in since.items():
            entry = latest.get((job.contract.name, partition))
            if entry is None or entry.cursor != cursor:
                raise LakeStateError(
                    subject=f"write to {job.contract.name} of {partition!r}",
                    seen="another run has moved it on while this one was under way",
                    why="the rows tell what changed since a state that is no more; nothing of them was written",
                    remedy="run it again: it will go on from where the other run ended",
                )

    def _replayed(self, job: Job) -> WriteReport:
        with holding(self._lake.locks, job.contract, job.request.scopes):
            return replayed(self._lake, job.contract, job.partitions, job.request, job.run_id)

    def _told(self, contract: TableContract, done: WriteReport, diagnostics: list[Diagnostic]) -> WriteReport:
        """The report with its seconds, kept for `writes`."""
        done = replace(done, seconds=seconds_by_phase(diagnostics), written_at=datetime.now(UTC))
        if done.committed:
            keep(self._lake, contract, done)
        return done


def _was_committed(table: DeltaTable, job: Job) -> bool:
    return table.transaction_version(job.request.key) is not None
