"""Any database with a JDBC driver, read by Spark. Rows stay a frame, so that their number does not matter here.

Queries are standard SQL with quoted names; moments are compared as the database's own TIMESTAMP, so that the database
and the JVM have to agree that they are in UTC.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lakehouse_assets.contracts.connections import JdbcConnection, filled
from lakehouse_assets.contracts.table import Column, ColumnType
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.session import runtime_for
from lakehouse_assets.plan.source_sql import quoted, text_literal
from lakehouse_assets.plan.sql_text import name as spark_name
from lakehouse_assets.sources.sql.database import SourceColumn, SourceDatabase, SourceState, database_error

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TYPES: Mapping[str, ColumnType] = {
    "tinyint": "bigint",
    "smallint": "bigint",
    "int": "bigint",
    "bigint": "bigint",
    "float": "double",
    "double": "double",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ntz": "timestamp",
    "binary": "binary",
    "array<string>": "array<string>",
}


class JdbcSource(SourceDatabase):
    kind = "jdbc"

    def __init__(self, connection: JdbcConnection, *, name: str) -> None:
        self._subject = f"connection {name}"
        self._clock = connection.clock
        self._options = {
            "url": filled(connection.url, subject=self._subject),
            "driver": connection.driver,
            "user": filled(connection.user, subject=self._subject),
            "password": filled(connection.password, subject=self._subject),
        }
        self._spark = runtime_for(load_settings()).session
        jar = filled(connection.driver_jar, subject=self._subject)
        self._spark.sql(f"ADD JAR {text_literal(jar)}")

    def columns(self, relation: str) -> tuple[SourceColumn, ...]:
        schema = self._frame(f"SELECT * FROM {relation}").schema
        found = [(field.name, field.dataType.simpleString()) for field in schema]
        return tuple(SourceColumn(name=name, type=_TYPES.get(kind, "string"), native=kind) for name, kind in found)

    def expression(self, column: SourceColumn, wanted: ColumnType) -> str:
        return quoted(column.name)  # Spark makes the type, the same for every database

    def state(self, clock: str | None) -> SourceState:
        now: datetime = self.answer(clock or self._clock)[0]["now"]
        return SourceState(now=now.astimezone(UTC) if now.tzinfo else now.replace(tzinfo=UTC))

    def has_transaction_ids(self, table: str | None) -> bool:
        return False

    def answer(self, query: str) -> Sequence[Mapping[str, Any]]:
        frame = self._frame(query)
        with _jdbc_errors(self._subject):
            return [row.asDict() for row in frame.collect()]

    def rows(self, query: str, columns: Sequence[Column]) -> "DataFrame":
        kinds = [
            f"CAST({spark_name(each.name, 'spark')} AS {each.type}) AS {spark_name(each.name, 'spark')}"
            for each in columns
        ]
        return self._frame(query).selectExpr(*kinds)

    def reading(self) -> AbstractContextManager[None]:
        return _jdbc_errors(self._subject)

    def close(self) -> None:
        """The session is the process's own."""

    def _frame(self, query: str) -> "DataFrame":
        with _jdbc_errors(self._subject):
            return self._spark.read.format("jdbc").options(**self._options, query=query).load()


@contextmanager
def _jdbc_errors(subject: str) -> Generator[None, None, None]:
    """Spark repeats the driver's words, which may hold values, so that only the kind of error is passed on.

    A driver's own error comes as it is through the bridge to the JVM, and through Spark Connect as one of Spark's.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        failed = database_error(subject, code=type(error).__name__, words=None)
    except Py4JJavaError as error:
        cause: Any = error.java_exception
        while cause.getCause() is not None:  # Spark's own errors around the driver's
            cause = cause.getCause()
        failed = database_error(subject, code=cause.getClass().getSimpleName(), words=None)
    else:
        return
    raise failed from None
