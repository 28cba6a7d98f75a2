"""SQL over the tables with DuckDB, straight from Delta: no JVM, no copy.

Only the tables that the query names are opened; filters and columns are pushed into the scan.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import duckdb
import sqlglot
from sqlglot.errors import SqlglotError

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.local_sql import new_database
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.models.names import as_numbers
from lakehouse_assets.models.number_texts import Numbers, number_texts

_BATCH_ROWS = 10_000


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Columns at once, rows as they are asked for."""

    columns: tuple[str, ...]
    rows: Iterator[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Tables:
    """What a query may name: `relations` are those it does name, as SQL; `known` are all there are."""

    relations: Mapping[str, str]
    known: tuple[str, ...]
    numbers: Numbers = field(default_factory=dict[str, frozenset[str]])
    """Columns that hold numbers as text."""


def tables_now(lake: Lake, query: str, more: Iterable[TableContract] = ()) -> Tables:
    """The lake's tables as they are now: the catalog's, and more that were made by configuration."""
    there = [contract for contract in (*CATALOG.values(), *more) if lake.exists(contract)]
    return Tables(
        relations={each.name: relation(lake, each) for each in there if each.name in query.lower()},
        known=tuple(each.name for each in there),
        numbers={each.name: each.number_columns for each in there if each.number_columns},
    )


@contextmanager
def ask(lake: Lake, query: str, tables: Tables | None = None) -> Iterator[Answer]:
    """Run `query` over the tables given, or the lake's as they are now, each under its own name."""
    there = tables or tables_now(lake, query)
    _check_numbers(query, there.numbers)
    with new_database() as connection:
        for name, sql in there.relations.items():
            connection.execute(f"CREATE VIEW {name} AS FROM {sql}")
        try:
            result = connection.execute(query)
            columns = _distinct([description[0] for description in result.description or []])
            yield Answer(columns=columns, rows=_rows(result, columns))
        except duckdb.Error as error:
            raise BadInputError(
                subject="query",
                seen=str(error).strip().rstrip("."),
                why="it was not run to its end",
                remedy=f"mend it; the tables are {', '.join(there.known) or 'not made yet (lakehouse sync)'}",
            ) from error


def _check_numbers(query: str, numbers: Numbers) -> None:
    """Refuse to compare numbers that are kept as text; what does not parse is left to DuckDB to tell."""
    if not numbers:
        return
    try:
        tree = sqlglot.parse_one(query, dialect="duckdb")
        found = number_texts(tree, numbers)
    except SqlglotError:
        return
    if found.misuse is not None:
        raise as_numbers("query", *found.misuse)


def _rows(result: duckdb.DuckDBPyConnection, columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    while batch := result.fetchmany(_BATCH_ROWS):
        for row in batch:
            yield dict(zip(columns, row, strict=True))


def _distinct(names: list[str]) -> tuple[str, ...]:
    """A join may give two columns of one name; the later ones get a number, so that none is lost."""
    seen: dict[str, int] = {}
    distinct: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        distinct.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return tuple(distinct)
