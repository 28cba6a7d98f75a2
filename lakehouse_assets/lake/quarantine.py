"""Rows that break a contract, set aside with the reason, before the others are written."""

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.naming import REDACTED
from lakehouse_assets.lake.staging import LocalStage, SparkStage, Staged
from lakehouse_assets.plan.batch_check import DUPLICATE_KEY, row_rules
from lakehouse_assets.plan.sql_text import Dialect, column, literal
from lakehouse_assets.plan.write_facts import WriteRequest

_REASON = "lakehouse_reason"


def judge(contract: TableContract, request: WriteRequest, staged: Staged) -> tuple[Staged, list[dict[str, Any]]]:
    """The rows that hold, staged anew, and the others as rows of `quarantine`. Nothing is written yet.

    Rows that share a key are all set aside: which of them is right, nobody can tell. Rows outside the run's
    partitions or owners stay, and fail the write: they are a mistake of the asset, not of the data.
    """
    if isinstance(staged, LocalStage):
        good, bad = _split_here(staged.rows, _reason(contract, request, staged, "duckdb"))
        remaining: Staged = LocalStage(good, contract, request)
    else:
        assert isinstance(staged, SparkStage)
        judged = staged.rows.selectExpr("*", f"{_reason(contract, request, staged, 'spark')} AS {_REASON}")
        bad = judged.where(f"{_REASON} IS NOT NULL").toArrow()
        remaining = SparkStage(judged.where(f"{_REASON} IS NULL").drop(_REASON), contract, request)
    now = datetime.now(UTC)
    hidden = {each.name for each in contract.columns if each.sensitive}
    return remaining, [
        {
            "write_key": request.key,
            "table_name": contract.name,
            "rule": row.pop(_REASON),
            "row_json": json_text({name: REDACTED if name in hidden else _plain(value) for name, value in row.items()}),
            "set_aside_at": now,
        }
        for row in bad.to_pylist()
    ]


def _reason(contract: TableContract, request: WriteRequest, staged: Staged, dialect: Dialect) -> str:
    present = [each for each in contract.columns if each.name in staged.facts.columns]
    rules = [rule for rule in row_rules(contract, request.scopes, dialect, present) if rule.kind != "outside"]
    key = ", ".join(column(name, dialect) for name in contract.key)
    cases = [f"WHEN {rule.violated} THEN {literal(rule.name, dialect)}" for rule in rules]
    doubled = f"WHEN count(*) OVER (PARTITION BY {key}) > 1 THEN {literal(DUPLICATE_KEY, dialect)}"
    return f"CASE {' '.join([*cases, doubled])} END"


def _split_here(rows: pa.Table, reason: str) -> tuple[pa.Table, pa.Table]:
    with local_sql() as connection:
        connection.register("batch", rows)
        judged = connection.sql(f"SELECT *, {reason} AS {_REASON} FROM batch").to_arrow_table()
    good = judged.filter(pc.field(_REASON).is_null()).drop_columns([_REASON])
    return good.cast(rows.schema), judged.filter(pc.field(_REASON).is_valid())


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | bool | list | None) else str(value)
