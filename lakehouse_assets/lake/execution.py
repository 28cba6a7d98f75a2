"""A plan carried out by the executor it names, and its commit, also where nothing changed.

A write that changed nothing commits an entry without files: it carries the ledger's entries and the transaction, so
that a replay of it is noticed however late. One that is wanted only if it changes something commits nothing then.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from deltalake import DeltaTable

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.account import Account
from lakehouse_assets.lake.local_executor import commit_nothing, execute_locally
from lakehouse_assets.lake.outcome import Outcome
from lakehouse_assets.lake.spark_executor import aligned, commit_nothing_by_spark, execute_spark
from lakehouse_assets.lake.staging import Staged
from lakehouse_assets.plan.sql_text import literal
from lakehouse_assets.plan.write_facts import TableFacts
from lakehouse_assets.plan.write_plan import WritePlan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def execute(
    table: DeltaTable,
    contract: TableContract,
    plan: WritePlan,
    facts: TableFacts,
    staged: Staged,
    account: Account,
    *,
    spark: "Callable[[], SparkSession]",
) -> Outcome:
    """Carry out `plan`."""
    run_id = account.job.run_id
    match plan.executor:
        case "delta-rs":
            outcome = execute_locally(table, contract, plan, staged, run_id, account.note)
        case "spark":
            frame = _audited(contract, aligned(staged.frame(spark()), contract.columns), run_id)
            outcome = execute_spark(spark(), table, contract, plan, frame, staged, account.note)
    if outcome.version is not None or account.job.batch.if_changed:
        return outcome
    if facts.beyond_delta_rs:
        return commit_nothing_by_spark(spark(), table, plan, outcome, account.note)
    return commit_nothing(table, plan, outcome, account.note)


def _audited(contract: TableContract, rows: "DataFrame", run_id: str) -> "DataFrame":
    if not contract.audited:
        return rows
    now = literal(datetime.now(UTC), "spark")
    return rows.selectExpr("*", f"{now} AS written_at", f"{literal(run_id, 'spark')} AS written_by")
