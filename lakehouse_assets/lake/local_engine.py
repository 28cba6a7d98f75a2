"""Runs relational steps with DuckDB, in this process."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.published_graph import PublishedGraph
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.source_files import Selection
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.scope import equal_scopes

if TYPE_CHECKING:
    import duckdb


class LocalEngine:
    """Keeps each result as a temporary table of one connection."""

    def __init__(self, connection: "duckdb.DuckDBPyConnection") -> None:
        self._connection = connection

    def keep(self, label: str, query: str) -> tuple[str, int]:
        name = f"kept_{label}"
        self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {query}")
        # All rows are fetched, though there is one: the connection takes no other query before a result's end.
        ((rows,),) = self._connection.execute(f"SELECT count(*) FROM {name}").fetchall()
        return name, rows

    def give(self, tables: Mapping[str, pa.Table]) -> dict[str, str]:
        """Make Arrow tables known; their names by label."""
        for label, table in tables.items():
            self._connection.register(f"given_{label}", table)
        return {label: f"given_{label}" for label in tables}

    def table(
        self, lake: Lake, contract: TableContract, repos: Sequence[str] | None, paths: Sequence[str] | None = None
    ) -> str:
        """Rows of some files come by delta-rs, which passes over data files of others; DuckDB reads all by itself."""
        if repos is None:
            return relation(lake, contract)
        if paths is None:
            return f"(FROM {relation(lake, contract, scopes=equal_scopes('repo', repos))})"
        rows = lake.read(contract, where=Selection(repos=tuple(repos), paths=tuple(paths)).predicate)
        return self.give({contract.name: rows})[contract.name]

    def version(self, lake: Lake, contract: TableContract, version: int, repos: Sequence[str] | None) -> str:
        """Of some repositories only their files are named: those of others may be gone."""
        return relation(lake, contract, version=version, scopes=() if repos is None else equal_scopes("repo", repos))

    def published(self, graph: PublishedGraph, contract: TableContract) -> str:
        return graph.relation(contract)

    def rows(self, contract: TableContract, query: str, **values: Any) -> pa.Table:
        """The rows of a table that a query makes."""
        schema = arrow_schema(contract.columns)
        return self.ask_arrow(query, **values).select(schema.names).cast(schema)

    def ask_arrow(self, query: str, **values: Any) -> pa.Table:
        """The rows of a query, with values for the names behind `$` in it."""
        return self._connection.sql(query, params=values or None).to_arrow_table()

    def ask(self, query: str, **values: Any) -> list[dict[str, Any]]:
        return self.ask_arrow(query, **values).to_pylist()


@contextmanager
def local_engine() -> Generator[LocalEngine, None, None]:
    with local_sql() as connection:
        yield LocalEngine(connection)
