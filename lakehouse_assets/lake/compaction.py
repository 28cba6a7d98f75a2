"""Has an engine write files of a table together, where a plan says that it is worth it.

Invariant: no row comes, goes or changes. The commit says so (`dataChange` is false), so that no change feed tells of
it, no cursor has anything to read, no key and no data version moves. Of a writer that meets it, one is tried again.

Small files are put together by delta-rs, without a JVM. What is out of the order of its owners is ordered by Spark:
delta-rs' z-order looks at the first 16 bytes of a text, which paths of a repository have in common.

Cost: the rows of the plan's partitions read and written once.
"""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.effects import reached
from lakehouse_assets.lake.concurrency import retried
from lakehouse_assets.lake.local_executor import WRITER
from lakehouse_assets.lake.maintained import Done, record
from lakehouse_assets.lake.spark_errors import spark_errors
from lakehouse_assets.lake.spark_executor import ROWS_PER_FILE, session_settings
from lakehouse_assets.lake.table_facts import beyond_delta_rs, table_facts
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.compaction import ENOUGH, CompactionPlan, FileSize, plan_compaction
from lakehouse_assets.plan.scope import equal_scopes, scope_predicate
from lakehouse_assets.plan.sql_text import column, delta_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SIZE = FileSize(rows=ROWS_PER_FILE, bytes=64 * 1024 * 1024)
_MAX_FILE_SIZE = "spark.databricks.delta.optimize.maxFileSize"


def planned(lake: Lake, contract: TableContract, *, enough: int = ENOUGH) -> CompactionPlan:
    """What is worth writing together now."""
    facts = table_facts(lake.open(contract), contract)
    return plan_compaction(contract.name, facts.version, facts.files, SIZE, enough=enough)


def compact_table(
    lake: Lake, contract: TableContract, *, spark: "Callable[[], SparkSession]", enough: int = ENOUGH
) -> CompactionPlan:
    """Carry out what is worth it; gives what was planned."""
    started = time.perf_counter()
    plan = planned(lake, contract, enough=enough)
    if not plan.bins:
        return plan
    by_spark = beyond_delta_rs(lake.open(contract)) != ()
    tangled, small = _partitions(contract, plan, "out of order"), _partitions(contract, plan, "small")
    reached("optimize: before commit")
    if tangled or by_spark:
        both = list(dict.fromkeys([*tangled, *(small if by_spark else ())]))
        retried(lake, contract, lambda: _order(spark(), lake, contract, both, plan.bytes_per_file))
    if rest := [] if by_spark else [each for each in small if each not in tangled]:
        retried(lake, contract, lambda: _pack(lake, contract, rest, plan.bytes_per_file))
    reached("optimize: after commit")
    lake.open(contract).create_checkpoint()
    size = lake.size(contract)
    done = Done(
        asset=contract.name,
        action="optimize",
        version=size.version,
        files_before=plan.files,
        files_after=size.files,
        seconds=time.perf_counter() - started,
    )
    record(lake, done)
    report("optimize", contract.name, "compacted", files_before=plan.files, files_after=size.files)
    return plan


def _partitions(contract: TableContract, plan: CompactionPlan, reason: str) -> list[Any]:
    """The values of the first partition column of bins; one that stands for all where the table has no partitions."""
    values = [
        each.files[0].partition[contract.partition_by[0]] if contract.partition_by else ""
        for each in plan.bins
        if each.reason == reason
    ]
    return list(dict.fromkeys(values))


def _pack(lake: Lake, contract: TableContract, partitions: Sequence[Any], target: int) -> None:
    filters = [(contract.partition_by[0], "in", [str(each) for each in partitions])] if contract.partition_by else None
    lake.open(contract).optimize.compact(partition_filters=filters, target_size=target, writer_properties=WRITER)


def _order(spark: "SparkSession", lake: Lake, contract: TableContract, partitions: Sequence[Any], target: int) -> None:
    scopes = equal_scopes(contract.partition_by[0], partitions) if contract.partition_by else ()
    where = f" WHERE {scope_predicate(scopes, 'spark')}" if scopes else ""
    ordered = f" ZORDER BY ({column(contract.owner, 'spark')})" if contract.owner else ""
    with session_settings(spark, {_MAX_FILE_SIZE: str(target)}), spark_errors(f"table {contract.name}"):
        spark.sql(f"OPTIMIZE {delta_name(str(lake.path(contract)))}{where}{ordered}").collect()
