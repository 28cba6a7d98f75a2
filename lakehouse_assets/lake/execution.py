"""A plan carried out by the executor it names, and its commit, also where nothing changed.

A write that changed nothing commits an entry without files: it carries the ledger's entries and the transaction, so
that a replay of it is noticed however late. One that is wanted only if it changes something commits nothing then.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake import DeltaTable

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.effects import reached
from lakehouse_assets.lake.account import Account
from lakehouse_assets.lake.commit_log import commit, is_plain
from lakehouse_assets.lake.copy_on_write import execute_here
from lakehouse_assets.lake.engine_executor import commit_nothing, execute_by_engine
from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.lake.outcome import Outcome
from lakehouse_assets.lake.rows import conform, with_audit
from lakehouse_assets.lake.spark_executor import aligned, execute_spark
from lakehouse_assets.lake.staging import Staged
from lakehouse_assets.lake.table_files import TableFolder
from lakehouse_assets.lake.worker_executor import execute_files
from lakehouse_assets.lake.worker_merge import execute_slices
from lakehouse_assets.lake.worker_stage import FileStage
from lakehouse_assets.plan.sql_text import literal
from lakehouse_assets.plan.write_facts import TableFacts
from lakehouse_assets.plan.write_plan import WritePlan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def execute(
    table: DeltaTable,
    path: LakePath,
    contract: TableContract,
    plan: WritePlan,
    facts: TableFacts,
    staged: Staged,
    account: Account,
    *,
    spark: "Callable[[], SparkSession]",
) -> Outcome:
    """Carry out `plan`."""
    plain = is_plain(table)
    match plan.executor:
        case "workers":
            assert isinstance(staged, FileStage)
            if plan.slices:
                folder = TableFolder.of(table, path, contract)
                done = execute_slices(spark(), table, folder, plan, staged.facts.files, account.note)
                outcome = done or _by_spark(spark(), table, contract, plan, staged, account)
            else:
                outcome = execute_files(table, contract, plan, facts, staged, account.note)
        case "process" | "delta-rs":
            batch = _local_batch(contract, staged, account.job.run_id)
            folder = TableFolder.of(table, path, contract)
            done = execute_here(table, folder, plan, facts, batch, account.note) if plain else None
            outcome = done or execute_by_engine(table, contract, plan, batch, account.note)
        case "spark":
            outcome = _by_spark(spark(), table, contract, plan, staged, account)
    if outcome.version is not None or account.job.batch.if_changed:
        return outcome
    if plain:
        return _nothing_changed(table, path, plan, outcome, account)
    return commit_nothing(table, contract, plan, outcome, account.note)


def _by_spark(
    spark: "SparkSession",
    table: DeltaTable,
    contract: TableContract,
    plan: WritePlan,
    staged: Staged,
    account: Account,
) -> Outcome:
    frame = _spark_batch(contract, staged.frame(spark), account.job.run_id)
    contents = staged.contents(contract)
    return execute_spark(spark, table, contract, plan, frame, staged.facts, contents, account.note)


def _nothing_changed(table: DeltaTable, path: LakePath, plan: WritePlan, outcome: Outcome, account: Account) -> Outcome:
    reached("write: before commit")
    version = commit(
        table, path, [], operation="MERGE", note=account.note(outcome), transaction=plan.request.key, metrics={}
    )
    return replace(outcome, version=version, noted=True)


def _local_batch(contract: TableContract, staged: Staged, run_id: str) -> pa.Table:
    present = [name for name in contract.column_names if name in staged.facts.columns]
    return with_audit(conform(staged.arrow(present), contract.columns), contract, datetime.now(UTC), run_id)


def _spark_batch(contract: TableContract, frame: "DataFrame", run_id: str) -> "DataFrame":
    rows = aligned(frame, contract.columns)
    if contract.audited:
        now = literal(datetime.now(UTC), "spark")
        rows = rows.selectExpr("*", f"{now} AS written_at", f"{literal(run_id, 'spark')} AS written_by")
    return rows
