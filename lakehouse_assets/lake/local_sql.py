"""SQL over rows in this process. One DuckDB serves all: opening one takes longer than a small batch's queries.

DuckDB reads a lake's files on a disk by itself, and those of an object store through `object_files`: its own reader of
object stores is an extension that is loaded from the network, with credentials of its own.

Invariant: what queries of a run hold here is bounded, whatever the repository's size; beyond it they spill to disk.
Rows that they give as Arrow tables are not part of it.
"""

import os
import tempfile
import threading
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.plan.sql_text import literal

if TYPE_CHECKING:
    import duckdb

    from lakehouse_assets.lake.object_path import LakePath

_MEMORY_A_CORE = 96 * 2**20
"""What a thread of DuckDB's needs to join and group at little less than full speed; the rest it spills.

The dearest query, the ends of 16.8 million edges, takes 17.9 CPU seconds with it, 14.6 with a third more, and 19.3 with
a third less. In a build of 18,000 files it decides the peak of the driver's Python, which may hold 700 MB.
"""
_lock = threading.Lock()
_database: "duckdb.DuckDBPyConnection | None" = None
_reads_object_stores = False


@contextmanager
def local_sql() -> "Generator[duckdb.DuckDBPyConnection, None, None]":
    """A connection of one's own, in UTC; what is registered with it no other thread sees, and it goes with it."""
    global _database
    with _lock:
        if _database is None:
            _database = new_database()
            _database.execute(f"SET memory_limit = '{_memory()} B'")
        cursor = _database.cursor()
    try:
        cursor.execute("SET TimeZone = 'UTC'")
        yield cursor
    finally:
        cursor.close()


def new_database(place: str = ":memory:") -> "duckdb.DuckDBPyConnection":
    """A DuckDB of one's own, in UTC, that reads the files of the lake, wherever they are. For what people ask: it may
    take what memory there is."""
    import duckdb  # takes longer to load than what is asked where nothing changed

    database = duckdb.connect(place)
    database.execute("SET TimeZone = 'UTC'")
    if place == ":memory:":
        # DuckDB would spill into the working folder, by names that other databases use as well. The folder is made
        # when it is needed, and goes with the database.
        database.execute(f"SET temp_directory = {literal(_spill_folder(), 'duckdb')}")
    if _reads_object_stores:
        _with_object_stores(database)
    return database


@contextmanager
def user_sql(root: "LakePath") -> "Generator[duckdb.DuckDBPyConnection, None, None]":
    """A DuckDB for queries that users wrote: it opens files of the lake alone, whatever a query names, and takes no
    settings. Neither does it see the variables of this program."""
    with new_database() as database:
        database.execute(f"SET allowed_directories = [{literal(str(root), 'duckdb')}]")
        database.execute("SET python_enable_replacements = false")
        database.execute("SET enable_external_access = false")
        database.execute("SET lock_configuration = true")
        yield database


def refuse_statements(connection: "duckdb.DuckDBPyConnection", query: str) -> None:
    """Refuse whatever is not a query: files of the lake, which a query may read, could be written over."""
    from duckdb import StatementType

    for statement in connection.extract_statements(query):
        if statement.type != StatementType.SELECT:
            raise BadInputError(
                subject="query",
                seen=f"{statement.type.name} is not a query: {statement.query.strip()[:80]!r}",
                why="the lake is only read here",
                remedy="write a SELECT; `--format csv` or `--format json` and the shell put its rows into a file",
            )


def _memory() -> int:
    """By the machine's cores alone: a larger repository takes longer, not more."""
    return _MEMORY_A_CORE * max(2, os.cpu_count() or 1)


def _spill_folder() -> str:
    return f"{tempfile.gettempdir()}/lakehouse-sql-{uuid.uuid4().hex}"


def read_object_stores() -> None:
    """From now on, files of object stores are read as well: a lake of this process is in one."""
    global _reads_object_stores
    with _lock:
        if _reads_object_stores:
            return
        _reads_object_stores = True
        if _database is not None:
            _with_object_stores(_database)


def _with_object_stores(database: "duckdb.DuckDBPyConnection") -> None:
    from lakehouse_assets.lake.object_files import ObjectFiles

    database.register_filesystem(ObjectFiles())
