"""What is asked of a database that rows come from, the same of each kind."""

import re
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakehouse_assets.contracts.connections import Connection, JdbcConnection, PostgresConnection, SqliteConnection
from lakehouse_assets.contracts.table import Column, ColumnType
from lakehouse_assets.core.errors import SourceError
from lakehouse_assets.plan.source_sql import DatabaseKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, kw_only=True)
class SourceColumn:
    """A column as the database has it, and as a contract would."""

    name: str
    type: ColumnType
    native: str

    @property
    def is_number(self) -> bool:
        """Whether its text is that of an exact number, for which contracts have no type."""
        return self.type == "string" and _NUMBERS.match(self.native) is not None


_NUMBERS = re.compile("numeric|decimal|number|money", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class SourceState:
    """The database's clock and, where it has them, its transactions."""

    now: datetime
    oldest_open: datetime | None = None
    hidden_sessions: int = 0
    """Sessions of others whose transactions the connection's role may not see."""
    snapshot: str | None = None


class SourceDatabase(ABC):
    """A connection for reading. Whoever opens it closes it."""

    kind: DatabaseKind

    @abstractmethod
    def columns(self, relation: str) -> tuple[SourceColumn, ...]:
        """The columns of what stands behind FROM."""

    @abstractmethod
    def expression(self, column: SourceColumn, wanted: ColumnType) -> str:
        """SQL that gives the column in a contract's type."""

    @abstractmethod
    def state(self, clock: str | None) -> SourceState: ...

    @abstractmethod
    def has_transaction_ids(self, table: str | None) -> bool: ...

    @abstractmethod
    def answer(self, query: str) -> Sequence[Mapping[str, Any]]:
        """The rows of a small query about the source, as Python values."""

    @abstractmethod
    def rows(self, query: str, columns: Sequence[Column]) -> "Iterator[pa.RecordBatch] | DataFrame":
        """The query's rows in the columns' types: a batch at a time, all of one moment, or as a frame of Spark's."""

    def reading(self) -> AbstractContextManager[None]:
        """Around whatever takes rows from it: errors that come then, as ours. A stream tells its own."""
        return nullcontext()

    @abstractmethod
    def close(self) -> None: ...


@contextmanager
def source_database(connection: Connection, *, name: str) -> Generator[SourceDatabase, None, None]:
    """Open a connection for reading."""
    database: SourceDatabase
    match connection:
        case PostgresConnection():
            from lakehouse_assets.sources.sql.postgres import PostgresSource

            database = PostgresSource(connection, name=name)
        case SqliteConnection():
            from lakehouse_assets.sources.sql.sqlite import SqliteSource

            database = SqliteSource(connection, name=name)
        case JdbcConnection():
            from lakehouse_assets.sources.sql.jdbc import JdbcSource

            database = JdbcSource(connection, name=name)
    try:
        yield database
    finally:
        database.close()


def database_error(subject: str, *, code: str, words: str | None) -> SourceError:
    """A refusal in the database's words, or by its code alone where these could hold values."""
    told = " ".join(words.split()) if words else "its message may hold values, so it is not repeated; its log has it"
    return SourceError(
        subject=subject,
        seen=f"the database refused ({code}): {told}",
        why="nothing of this step was kept",
        remedy="mend what it complains of and run again: the run goes on from the last mark",
    )
