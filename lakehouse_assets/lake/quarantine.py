"""Rows that break a contract, set aside with the reason, before the others are written."""

from datetime import UTC, datetime

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import write_deltalake

from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.staging import LocalStage, SparkStage, Staged
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.batch_check import row_rules
from lakehouse_assets.plan.sql_text import Dialect, column, literal
from lakehouse_assets.plan.write_plan import WriteRequest


def set_aside(lake: Lake, contract: TableContract, request: WriteRequest, staged: Staged) -> tuple[Staged, int]:
    """The rows that hold, staged anew, and how many were set aside.

    Rows that share a key are all set aside: which of them is right, nobody can tell. Rows outside the run's
    partitions stay, and fail the write: they are a mistake of the asset, not of the data.
    """
    dialect: Dialect = "duckdb" if isinstance(staged, LocalStage) else "spark"
    present = [each for each in contract.columns if each.name in staged.facts.columns]
    rules = [rule for rule in row_rules(contract, request.scopes, dialect, present) if rule.kind != "outside"]
    key = ", ".join(column(name, dialect) for name in contract.key)
    doubled = f"count(*) OVER (PARTITION BY {key}) > 1"
    cases = [f"WHEN {rule.violated} THEN {literal(rule.name, dialect)}" for rule in rules]
    reason = f"CASE {' '.join(cases)} WHEN {doubled} THEN 'the key stands more than once' END"
    judged = f"SELECT *, {reason} AS lakehouse_reason FROM {{source}}"
    good, bad = _split(staged, judged)
    rows = bad.to_pylist()
    now = datetime.now(UTC)
    records = [
        {
            "write_key": request.key,
            "table_name": contract.name,
            "rule": row.pop("lakehouse_reason"),
            "row_json": json_text({name: _plain(value) for name, value in row.items()}),
            "set_aside_at": now,
        }
        for row in rows
    ]
    if records:
        table = pa.Table.from_pylist(records, schema=arrow_schema(QUARANTINE.columns))
        write_deltalake(lake.ensure(QUARANTINE), table, mode="append")
        report("quarantine", contract.name, "rows were set aside", level="warning", rows=len(records))
    remaining = LocalStage if isinstance(good, pa.Table) else SparkStage
    return remaining(good, contract, request.scopes), len(records)  # pyright: ignore[reportArgumentType]


def _split(staged: Staged, judged: str):
    if isinstance(staged, LocalStage):
        rows = staged.arrow(list(staged.facts.columns))
        with duckdb.connect() as connection:
            connection.register("batch", rows)
            held = connection.sql(judged.format(source="batch")).to_arrow_table()
        good = held.filter(pc.field("lakehouse_reason").is_null()).drop_columns(["lakehouse_reason"])
        return good.cast(rows.schema), held.filter(pc.field("lakehouse_reason").is_valid())
    assert isinstance(staged, SparkStage)
    frame = staged.rows
    spark = frame.sparkSession
    held = spark.sql(judged.format(source="{frame}"), frame=frame)
    good = held.where("lakehouse_reason IS NULL").drop("lakehouse_reason")
    return good, held.where("lakehouse_reason IS NOT NULL").toArrow()


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | bool | list | None) else str(value)
