"""PostgreSQL through ADBC: rows cross by binary COPY into Arrow, none as a Python object."""

import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import adbc_driver_manager
import pyarrow as pa
from adbc_driver_postgresql import dbapi

from lakehouse_assets.contracts.connections import PostgresConnection, filled
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import Column, ColumnType
from lakehouse_assets.lake.rows import conform
from lakehouse_assets.plan.source_sql import text_literal
from lakehouse_assets.sources.sql.database import SourceColumn, SourceDatabase, SourceState, database_error

_TYPES: Mapping[str, ColumnType] = {
    "int2": "bigint",
    "int4": "bigint",
    "int8": "bigint",
    "oid": "bigint",
    "float4": "double",
    "float8": "double",
    "bool": "boolean",
    "date": "date",
    "timestamp": "timestamp",
    "timestamptz": "timestamp",
    "bytea": "binary",
    "_text": "array<string>",
    "_varchar": "array<string>",
}
"""Everything else comes as the text that PostgreSQL writes for it, which loses nothing (numeric, uuid, json, …)."""

CASTS: Mapping[ColumnType, str] = {
    "string": "text",
    "int": "integer",
    "bigint": "bigint",
    "double": "double precision",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "timestamptz",
    "array<string>": "text[]",
    "binary": "bytea",
}

_PLAIN_STATES = ("08", "28", "3D", "42", "53", "57", "58")
"""Classes of errors whose messages are about the connection, the schema or the server, and hold no row's values."""


class PostgresSource(SourceDatabase):
    kind = "postgresql"

    def __init__(self, connection: PostgresConnection, *, name: str) -> None:
        self._subject = f"connection {name}"
        self._held = postgres(connection, name=name)
        self._connection = self._held.__enter__()
        # One snapshot for all that a step asks.
        self._run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self._run("SET LOCAL TIME ZONE 'UTC'")

    def columns(self, relation: str) -> tuple[SourceColumn, ...]:
        with postgres_errors(self._subject), self._connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {relation} LIMIT 0")
            schema = cursor.fetch_record_batch().schema
        found: list[SourceColumn] = []
        for field in schema:
            native = (field.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
            found.append(SourceColumn(name=field.name, type=_TYPES.get(native, "string"), native=native))
        return tuple(found)

    def expression(self, column: SourceColumn, wanted: ColumnType) -> str:
        name = '"' + column.name.replace('"', '""') + '"'
        if wanted == "timestamp" and column.native == "timestamp":
            return f"{name} AT TIME ZONE 'UTC'"  # without a zone it is taken for UTC
        if wanted == "array<string>":
            # The driver would make one list of an array of several dimensions, and takes none that begins elsewhere
            # than at 1: the database refuses the one (in array_position), and a slice numbers the other anew.
            held = f"({name}::{CASTS[wanted]})"
            return f"CASE WHEN array_position({held}, '') > 0 THEN {held}[:] ELSE {held}[:] END"
        return f"{name}::{CASTS[wanted]}"

    def state(self, clock: str | None) -> SourceState:
        """The clock before the look at open transactions: one that begins between them began after the clock."""
        now = self.answer(clock or "SELECT clock_timestamp() AS now")[0]["now"]
        (found,) = self.answer(
            "SELECT min(xact_start) AS oldest_open, pg_current_snapshot()::text AS snapshot, "
            "count(*) FILTER (WHERE query = '<insufficient privilege>') AS hidden FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )
        (prepared,) = self.answer(
            "SELECT min(prepared) AS oldest FROM pg_prepared_xacts WHERE database = current_database()"
        )
        opened = [moment for moment in (found["oldest_open"], prepared["oldest"]) if moment is not None]
        return SourceState(
            now=now,
            oldest_open=min(opened, default=None),
            hidden_sessions=found["hidden"],
            snapshot=found["snapshot"],
        )

    def has_transaction_ids(self, table: str | None) -> bool:
        if table is None:
            return False
        name = ".".join('"' + part.replace('"', '""') + '"' for part in table.split("."))
        query = f"SELECT relkind::text AS kind FROM pg_class WHERE oid = {text_literal(name)}::regclass"
        return self.answer(query)[0]["kind"] in ("r", "p", "m")

    def answer(self, query: str) -> Sequence[Mapping[str, Any]]:
        with postgres_errors(self._subject), self._connection.cursor() as cursor:
            cursor.execute(query)
            return plain_rows(cursor.fetch_arrow_table())

    def rows(self, query: str, columns: Sequence[Column]) -> Iterator[pa.RecordBatch]:
        schema = arrow_schema(columns)
        with postgres_errors(self._subject, quiet=True), self._connection.cursor() as cursor:
            cursor.execute(query)
            for batch in batches_of(cursor.fetch_record_batch(), self._subject):
                if batch.num_rows:
                    rows = conform(pa.Table.from_batches([batch]), columns)
                    yield pa.RecordBatch.from_arrays([each.combine_chunks() for each in rows.columns], schema=schema)

    def close(self) -> None:
        self._held.__exit__(None, None, None)

    def _run(self, statement: str) -> None:
        with postgres_errors(self._subject), self._connection.cursor() as cursor:
            cursor.execute(statement)


@contextmanager
def postgres(connection: PostgresConnection, *, name: str) -> Generator[dbapi.Connection, None, None]:
    """A connection in a transaction of its own, rolled back at the end unless it was committed."""
    subject = f"connection {name}"
    # An address that does not parse is repeated in parts, and these may be a password's.
    with postgres_errors(subject, quiet=_holds_secret(connection.uri)):
        held = dbapi.connect(filled(connection.uri, subject=subject))
    try:
        yield held
    finally:
        held.close()


def _holds_secret(uri: str) -> bool:
    return "${" in uri or "password" in uri or re.search(r"://[^/@]*:", uri) is not None


@contextmanager
def postgres_errors(subject: str, *, quiet: bool = False) -> Generator[None, None, None]:
    """Errors of the driver as ours; `quiet` where messages could hold what rows hold."""
    try:
        yield
    except adbc_driver_manager.Error as error:
        code = error.sqlstate or error.status_code.name.lower()
        tells = not quiet or code.startswith(_PLAIN_STATES)
        # The driver repeats the query, and the server the values: only its first sentence is passed on.
        words = re.split(r"\n|DETAIL|Query was|\. SQLSTATE", str(error), maxsplit=1)[0] if tells else None
        failed = database_error(subject, code=code, words=_of_arrays(error) or words)
    else:
        return
    raise failed from None


def _of_arrays(error: Exception) -> str | None:
    """What is wrong if it is what `expression` has the database refuse."""
    if "multidimensional arrays" not in str(error):
        return None
    return "an array has several dimensions, and lists of the lake have one; give its column the type string"


def batches_of(reader: pa.RecordBatchReader, subject: str) -> Iterator[pa.RecordBatch]:
    """The reader's batches. What fails while rows are fetched comes as Arrow's error, in words that may hold values."""
    while True:
        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return
        except (OSError, pa.ArrowException) as error:
            failed = database_error(subject, code="while rows were read", words=_of_arrays(error))
        else:
            yield batch
            continue
        raise failed from None


def plain_rows(table: pa.Table) -> list[dict[str, Any]]:
    """Rows as Python values; Arrow would load pandas for moments in time, which it has no need for here."""
    from datetime import UTC, datetime, timedelta

    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    values = [
        [
            None if number is None else epoch + timedelta(microseconds=number)
            for number in held.cast(pa.timestamp("us", tz="UTC")).cast("int64").to_pylist()
        ]
        if pa.types.is_timestamp(held.type)
        else held.to_pylist()
        for held in table.columns
    ]
    return [dict(zip(table.column_names, row, strict=True)) for row in zip(*values, strict=True)]
