"""Rows as people are shown them: a few, in the order of the key, as text, without what is sensitive.

Invariant: a value of a sensitive column does not leave the query; that it changed is told, what it was is not.
"""

from collections.abc import Sequence
from typing import Any

import duckdb

from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.plan.sql_text import column
from lakehouse_assets.stories.records import REDACTED, Samples, as_text

Row = tuple[str | None, ...]


def shown_columns(contract: TableContract) -> str:
    """The columns as a SELECT list."""
    return ", ".join(f"{_shown(each, 'r')} AS {column(each.name, 'duckdb')}" for each in contract.stored_columns)


def shown_pairs(contract: TableContract) -> str:
    """The columns of a row before (b) and after (a), as a SELECT list: first all of the one, then all of the other."""
    before = [_shown(each, "b") for each in contract.stored_columns]
    after = [_shown_after(each) if each.sensitive else _shown(each, "a") for each in contract.stored_columns]
    return ", ".join(f"{expression} AS c{number}" for number, expression in enumerate((*before, *after)))


def in_key_order(contract: TableContract, of: str) -> str:
    return "ORDER BY " + ", ".join(column(name, "duckdb", of=of) for name in contract.key)


def as_rows(result: duckdb.DuckDBPyConnection) -> tuple[Row, ...]:
    return tuple(_texts(row) for row in result.fetchall())


def as_pairs(result: duckdb.DuckDBPyConnection) -> tuple[tuple[Row, Row], ...]:
    rows = [_texts(row) for row in result.fetchall()]
    return tuple((row[: len(row) // 2], row[len(row) // 2 :]) for row in rows)


def samples_of(contract: TableContract, **parts: Any) -> Samples:
    names = tuple(each.name for each in contract.stored_columns)
    return Samples(columns=names, key=contract.key, **parts)


def _texts(row: Sequence[object]) -> Row:
    return tuple(as_text(value) for value in row)


def _shown(each: Column, of: str) -> str:
    name = column(each.name, "duckdb", of=of)
    if each.sensitive:
        return f"CASE WHEN {name} IS NOT NULL THEN '{REDACTED}' END"
    # What only its writer reads is told by its size.
    return f"octet_length({name}) || ' bytes'" if each.type == "binary" else name


def _shown_after(each: Column) -> str:
    before, after = column(each.name, "duckdb", of="b"), column(each.name, "duckdb", of="a")
    return (
        f"CASE WHEN {after} IS NULL THEN NULL WHEN {before} IS NOT DISTINCT FROM {after} THEN '{REDACTED}' "
        f"ELSE '{REDACTED}, changed' END"
    )
