"""SQL over the tables with DuckDB, straight from Delta: no JVM, no copy.

Only the tables that the query names are opened; filters and columns are pushed into the scan.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.graph_versions import PUBLISHED
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.local_sql import refuse_statements, user_sql
from lakehouse_assets.lake.published import PublishedCommit
from lakehouse_assets.lake.published_graph import graph_at, newest_graph
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.models.names import as_numbers
from lakehouse_assets.models.number_texts import Numbers, number_texts

_BATCH_ROWS = 10_000
_BY_CONTENT = (BLOBS, EXTRACTS)


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
    rows: Mapping[str, pa.Table] = field(default_factory=dict[str, pa.Table])
    """Those that were made before."""
    numbers: Numbers = field(default_factory=dict[str, frozenset[str]])
    """Columns that hold numbers as text."""
    notes: tuple[str, ...] = ()
    """What they leave out."""


def tables_now(lake: Lake, query: str, more: Iterable[TableContract] = ()) -> Tables:
    """The graph at the commits that were published last, and the lake's other tables as they are: the catalog's, and
    more that were made by configuration."""
    there = [contract for contract in (*CATALOG.values(), *more) if lake.exists(contract)]
    named = [each for each in there if each.name in query.lower()]
    graph = newest_graph(lake)
    return Tables(
        relations={each.name: graph.relation(each) for each in named},
        known=tuple(each.name for each in there),
        numbers={each.name: each.number_columns for each in there if each.number_columns},
        notes=graph.notes if any(each in PUBLISHED for each in named) else (),
    )


def tables_at(lake: Lake, commit: PublishedCommit, query: str) -> Tables:
    """The graph of one repository at a commit. Contents (`blobs`, `extracts`) are never rewritten: those of the
    commit's files are given as they are now."""
    graph = graph_at(lake, commit)
    known = [CATALOG[name] for name in commit.versions if name in CATALOG]
    relations = {each.name: graph.relation(each) for each in known if each.name in query.lower()}
    files = f"SELECT blob_sha FROM {graph.relation(SNAPSHOTS)}"
    for each in _BY_CONTENT:
        if each.name in query.lower():
            relations[each.name] = f"(FROM {relation(lake, each)} WHERE blob_sha IN ({files}))"
    return Tables(relations=relations, known=tuple(each.name for each in (*known, *_BY_CONTENT)))


@contextmanager
def ask(lake: Lake, query: str, tables: Tables | None = None) -> Iterator[Answer]:
    """Run `query` over the tables given, or the lake's, each under its own name. It reads the lake and nothing else."""
    there = tables or tables_now(lake, query)
    with user_sql(lake.root) as connection:
        for name, rows in there.rows.items():
            connection.register(name, rows)
        for name, sql in there.relations.items():
            connection.execute(f"CREATE VIEW {name} AS FROM {sql}")
        try:
            refuse_statements(connection, query)
            _check_numbers(connection, query, there)
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


def _check_numbers(connection: duckdb.DuckDBPyConnection, query: str, tables: Tables) -> None:
    """Refuse to compare numbers that are kept as text, and a query of which that cannot be told."""
    numbers = {each: tables.numbers[each] for each in (*tables.relations, *tables.rows) if tables.numbers.get(each)}
    if not numbers:
        return
    schema: dict[str, object] = {
        each: {name: kind for name, kind, *_ in connection.execute(f'DESCRIBE "{each}"').fetchall()}
        for each in (*tables.relations, *tables.rows)
    }
    try:
        tree = sqlglot.parse_one(query, dialect="duckdb")
        if isinstance(tree, exp.Summarize):
            of = tree.this
            tree = exp.select("*").distinct().from_(of.subquery() if isinstance(of, exp.Query) else of)
        full = qualify(tree.copy(), schema=schema, dialect="duckdb", validate_qualify_columns=False)
        # Spelling stars and places out leaves out what it stands for, such as DISTINCT ON.
        found = next((each for each in (number_texts(form, numbers) for form in (tree, full)) if each.misuse), None)
    except SqlglotError as error:
        held = {f"{table}.{column}" for table, columns in numbers.items() for column in columns}
        raise BadInputError(
            subject="query",
            seen=f"it cannot be told whether it compares {min(held)}, which holds numbers of its source as text",
            why="as text '99' is more than '123'",
            remedy="write it in plainer SQL, or cast the column in a query within it",
        ) from error
    if found is not None and found.misuse is not None:
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
