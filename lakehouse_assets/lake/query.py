"""SQL over the tables with DuckDB, straight from Delta: no JVM, no copy.

Only the tables that the query names are opened; filters and columns are pushed into the scan.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.tables import Lake

_BATCH_ROWS = 10_000


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Columns at once, rows as they are asked for."""

    columns: tuple[str, ...]
    rows: Iterator[dict[str, Any]]


@contextmanager
def ask(lake: Lake, query: str) -> Iterator[Answer]:
    """Run `query` over the lake's tables, each under its own name."""
    there = [contract for contract in CATALOG.values() if lake.exists(contract)]
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for contract in there:
            if contract.name in query.lower():
                connection.execute(f"CREATE VIEW {contract.name} AS FROM {relation(lake, contract)}")
        try:
            result = connection.execute(query)
            columns = _distinct([description[0] for description in result.description or []])
            yield Answer(columns=columns, rows=_rows(result, columns))
        except duckdb.Error as error:
            raise BadInputError(
                subject="query",
                seen=str(error).strip().rstrip("."),
                why="it was not run to its end",
                remedy=f"mend it; the tables are {', '.join(c.name for c in there) or 'not made yet (lakehouse sync)'}",
            ) from error


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
