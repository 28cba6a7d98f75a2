"""A plan carried out by the executor it names, and its commit, also where nothing changed.

A write that changed nothing commits an entry without files: it carries the ledger's entries and the transaction, so
that a replay of it is noticed however late. One that is wanted only if it changes something commits nothing then.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from deltalake import DeltaTable

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.account import Account
from lakehouse_assets.lake.local_executor import commit_nothing, execute_locally
from lakehouse_assets.lake.outcome import Outcome
from lakehouse_assets.lake.spark_executor import commit_nothing_by_spark, execute_spark
from lakehouse_assets.lake.staging import Staged, stage
from lakehouse_assets.plan.write_facts import TableFacts
from lakehouse_assets.plan.write_plan import WritePlan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
            outcome = execute_locally(table, contract, plan, staged, run_id, account.note, counted=account.is_counted)
        case "spark" if staged.facts.rows is None and plan.action in ("merge", "delete"):
            # Looked at more than once, and made each time if they were not kept.
            with stage(staged.frame(spark()), account.job.contract, plan.request) as kept:
                outcome = execute_spark(spark(), table, contract, plan, kept, run_id, account.note)
        case "spark":
            outcome = execute_spark(spark(), table, contract, plan, staged, run_id, account.note)
    if outcome.version is not None or account.job.batch.if_changed:
        return outcome
    if facts.beyond_delta_rs:
        return commit_nothing_by_spark(spark(), table, plan, outcome, account.note)
    return commit_nothing(table, plan, outcome, account.note)
