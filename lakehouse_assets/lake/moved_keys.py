"""Keys of a batch that the table has outside what the write covers: written as well, they would stand there twice.

Asked only where the key does not tell where a row lives. Cost: the key columns of everything outside the write.
"""

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.naming import EXAMPLES, named_rows
from lakehouse_assets.lake.staging import SparkStage, Staged
from lakehouse_assets.lake.views import view_scope
from lakehouse_assets.plan.sql_text import Dialect, column, delta_name
from lakehouse_assets.plan.statements import target_predicate
from lakehouse_assets.plan.write_facts import Violation, WriteRequest
from lakehouse_assets.plan.write_plan import may_move

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_COUNT = "lakehouse_count"


def moved_keys(table: DeltaTable, contract: TableContract, request: WriteRequest, staged: Staged) -> Violation | None:
    """The rows of the batch whose key is in another partition, or with another owner, already."""
    if not may_move(contract, request) or not staged.facts.rows:
        return None
    found = (
        _on_spark(table, contract, request, staged.rows)
        if isinstance(staged, SparkStage)
        else _here(table, contract, request, staged.arrow(contract.key))
    )
    report("moved keys", contract.name, "looked for the batch's keys in all other partitions", found=len(found))
    if not found:
        return None
    count = found[0][_COUNT]
    told = [{name: row[name] for name in contract.key} for row in found]
    return Violation(
        rule="the key is in another partition or with another owner already",
        rows=count,
        examples=named_rows(contract, told),
    )


def _here(table: DeltaTable, contract: TableContract, request: WriteRequest, keys: pa.Table) -> list[dict[str, Any]]:
    listed = ", ".join(column(name, "datafusion") for name in contract.key)
    where = f"NOT ({target_predicate(contract, request, 'datafusion')})"
    reader = QueryBuilder().register("t", table).execute(f"SELECT {listed} FROM t WHERE {where}")
    with local_sql() as connection:
        connection.register("t", pa.table(reader.read_all()))
        connection.register("s", keys)
        return connection.sql(_query(contract, "t", "s", "TRUE", "duckdb")).to_arrow_table().to_pylist()


def _on_spark(
    table: DeltaTable, contract: TableContract, request: WriteRequest, rows: "DataFrame"
) -> list[dict[str, Any]]:
    spark = rows.sparkSession
    outside = f"NOT ({target_predicate(contract, request, 'spark', of='t')})"
    with view_scope(spark) as views:
        view = views.register(contract.name, rows)
        return spark.sql(_query(contract, delta_name(table.table_uri), view, outside, "spark")).toArrow().to_pylist()


def _query(contract: TableContract, table: str, batch: str, outside: str, dialect: Dialect) -> str:
    key = ", ".join(column(name, dialect, of="t") for name in contract.key)
    same = " AND ".join(f"{column(name, dialect, of='s')} = {column(name, dialect, of='t')}" for name in contract.key)
    semi = "LEFT SEMI JOIN" if dialect == "spark" else "SEMI JOIN"
    return (
        f"SELECT {key}, count(*) OVER () AS {_COUNT} FROM {table} AS t {semi} {batch} AS s ON {same} "
        f"WHERE {outside} ORDER BY {key} LIMIT {EXAMPLES}"
    )
