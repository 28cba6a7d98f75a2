"""One repository's graph for an export: every table at one version, taken a group of neighbouring paths at a time.

The tables of the current group are `g_nodes`, `g_edges` and `g_definitions` in `graph.sql`; whole tables are under
their own names, all repositories included.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.edges import EDGES
from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake.local_sql import new_database
from lakehouse_assets.lake.published_graph import PublishedGraph, newest_graph
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import literal

GROUP_NODES = 150_000
"""Nodes of a group of files, and a few times as many edges: some 100 MB."""

_MEMORY = "512MB"
_BATCH_ROWS = 20_000
_TABLES = (DEFINITIONS, NODES, EDGES, SNAPSHOTS, BLOBS)


class Tables:
    """Every table at one version, in DuckDB."""

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        self.database = database

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of its own to the same tables."""
        return self.database.cursor()

    def rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        """Rows as they are asked for, over a cursor of their own, so that other queries may come between."""
        cursor = self.cursor()
        result = cursor.execute(query)
        while batch := result.fetchmany(_BATCH_ROWS):
            yield from batch
        cursor.close()

    def batches(self, query: str) -> Iterator[pa.RecordBatch]:
        cursor = self.cursor()
        yield from pa.RecordBatchReader.from_stream(cursor.sql(query).to_arrow_reader(_BATCH_ROWS))
        cursor.close()


class Graph(Tables):
    """The graph of the repository `name`."""

    def __init__(self, tables: Tables, name: str, commit: str) -> None:
        super().__init__(tables.database)
        self.name = name
        self.commit = commit
        """What the graph tells of."""
        self.repo = literal(name, "duckdb")
        self.sql = self.cursor()

    def groups(self) -> Iterator[tuple[str, ...]]:
        """Make each group current, in the order of paths, and give its paths."""
        waiting: list[str] = []
        nodes = 0
        for path, count in self._sizes():
            waiting.append(path)
            nodes += count
            if nodes >= GROUP_NODES:
                yield self._enter(waiting)
                waiting, nodes = [], 0
        if waiting:
            yield self._enter(waiting)

    def _sizes(self) -> list[tuple[str, int]]:
        query = f"SELECT path, count(*) FROM nodes WHERE repo = {self.repo} GROUP BY path ORDER BY path"
        return self.sql.execute(query).fetchall()

    def _enter(self, paths: Sequence[str]) -> tuple[str, ...]:
        first, last = literal(paths[0], "duckdb"), literal(paths[-1], "duckdb")
        for table in ("nodes", "edges", "definitions"):
            self.sql.execute(
                f"CREATE OR REPLACE TABLE g_{table} AS SELECT * FROM {table} "
                f"WHERE repo = {self.repo} AND path >= {first} AND path <= {last}"
            )
        return tuple(paths)


@contextmanager
def open_tables(published: PublishedGraph) -> Iterator[Tables]:
    """The tables as they were published.

    What does not fit in memory goes to a folder that is gone when the scope ends.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="lakehouse-export-"))
        database = stack.enter_context(new_database(f"{folder}/export.duckdb"))
        database.execute(f"SET memory_limit = '{_MEMORY}'")
        database.execute(f"SET temp_directory = {literal(folder, 'duckdb')}")
        for contract in _TABLES:
            database.execute(f"CREATE VIEW {contract.name} AS FROM {published.relation(contract)}")
        yield Tables(database)


@contextmanager
def open_graph(lake: Lake, name: str) -> Iterator[Graph]:
    """One repository's graph as it was last published; refused if that never was, or if it is empty."""
    published = newest_graph(lake)
    commit = published.require(name).commit_sha
    with open_tables(published) as tables:
        graph = Graph(tables, name, commit)
        if not graph.sql.execute(f"SELECT count(*) FROM definitions WHERE repo = {graph.repo}").fetchall()[0][0]:
            raise _not_made(name, DEFINITIONS)
        yield graph


def _not_made(name: str, contract: TableContract) -> LakeStateError:
    return LakeStateError(
        subject=f"repository {name!r}",
        seen=f"`{contract.name}` has no rows of it",
        why="there is no graph to export yet",
        remedy=f"run `lakehouse sync {name}` first",
    )
