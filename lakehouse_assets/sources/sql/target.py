"""What is asked of a database that rows go to, the same of each kind."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa

from lakehouse_assets.contracts.connections import Connection, JdbcConnection, PostgresConnection, SqliteConnection
from lakehouse_assets.contracts.table import Column
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.plan.delivery_sql import Statement, TargetKind


@dataclass(frozen=True, kw_only=True)
class DeliveryState:
    """How far a delivery has come, as the target itself says."""

    position: str
    reconciled: bool


@dataclass(frozen=True, kw_only=True)
class MergeCounts:
    """What a merge did to the target."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0


class TargetDatabase(ABC):
    """A connection for writing. Whoever opens it closes it; what was not committed is gone then."""

    kind: TargetKind

    @abstractmethod
    def table_columns(self, table: str) -> dict[str, str] | None:
        """Columns and their types; None if there is no such table."""

    @abstractmethod
    def state(self, delivery: str) -> DeliveryState | None:
        """The delivery's state; makes the table of states if it is not there."""

    @abstractmethod
    def row_count(self, table: str) -> int: ...

    @abstractmethod
    def run(self, statements: Sequence[Statement]) -> MergeCounts:
        """Carry out the statements in one transaction, and commit it."""

    @abstractmethod
    def merge(self, delivery: str, expected: str | None, statements: Sequence[Statement]) -> MergeCounts:
        """As `run`, but refuse if the delivery's position is not the expected one: another run was here."""

    def held(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows as the database holds them, where it has no such value as the lake has."""
        return rows

    @abstractmethod
    def load(self, table: str, rows: Iterator[pa.RecordBatch], columns: Sequence[Column]) -> None:
        """Load the rows into a table of these columns, and commit."""

    @abstractmethod
    def rows(self, query: str, columns: Sequence[Column]) -> Iterator[pa.RecordBatch]: ...

    @abstractmethod
    def tables_like(self, table: str, prefix: str) -> tuple[str, ...]:
        """Tables of the schema of `table` whose names begin so."""

    @abstractmethod
    def close(self) -> None: ...


@contextmanager
def target_database(connection: Connection, *, name: str) -> Generator[TargetDatabase, None, None]:
    """Open a connection for writing."""
    database: TargetDatabase
    match connection:
        case PostgresConnection():
            from lakehouse_assets.sources.sql.postgres_target import PostgresTarget

            database = PostgresTarget(connection, name=name)
        case SqliteConnection():
            from lakehouse_assets.sources.sql.sqlite_target import SqliteTarget

            database = SqliteTarget(connection, name=name)
        case JdbcConnection():
            raise BadInputError(
                subject=f"connection {name}",
                seen="it goes through JDBC, which is read from only",
                why="rows are merged in one transaction, which takes a driver of the database's own",
                remedy="deliver to PostgreSQL or SQLite",
            )
    try:
        yield database
    finally:
        database.close()
