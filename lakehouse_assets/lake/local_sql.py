"""SQL over rows in this process. One DuckDB serves all: opening one takes longer than a small batch's queries."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

_lock = threading.Lock()
_database: "duckdb.DuckDBPyConnection | None" = None


@contextmanager
def local_sql() -> "Generator[duckdb.DuckDBPyConnection, None, None]":
    """A connection of one's own, in UTC; what is registered with it no other thread sees, and it goes with it."""
    global _database
    with _lock:
        if _database is None:
            import duckdb  # takes longer to load than what is asked where nothing changed

            _database = duckdb.connect()
        cursor = _database.cursor()
    try:
        cursor.execute("SET TimeZone = 'UTC'")
        yield cursor
    finally:
        cursor.close()
