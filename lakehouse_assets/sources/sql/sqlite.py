"""SQLite through Python's own module. A column's declared type decides; a value that does not fit it is refused."""

import json
import re
import sqlite3
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakehouse_assets.contracts.connections import SqliteConnection, filled
from lakehouse_assets.contracts.schemas import arrow_type
from lakehouse_assets.contracts.table import Column, ColumnType
from lakehouse_assets.core.errors import SourceError
from lakehouse_assets.sources.sql.database import SourceColumn, SourceDatabase, SourceState, database_error

BATCH_ROWS = 50_000


class SqliteSource(SourceDatabase):
    kind = "sqlite"

    def __init__(self, connection: SqliteConnection, *, name: str) -> None:
        self._subject = f"connection {name}"
        self._connection = sqlite(connection, name=name, read_only=True)
        with sqlite_errors(self._subject):
            self._connection.execute("BEGIN")  # all that a step asks is of one moment

    def columns(self, relation: str) -> tuple[SourceColumn, ...]:
        with sqlite_errors(self._subject):
            cursor = self._connection.execute(f"SELECT * FROM {relation} LIMIT 0")
            names = [each[0] for each in cursor.description or ()]
            declared: dict[str, str] = {}
            if relation.startswith('"'):  # a table; the columns of a query have no declared types
                schema, table = _parts(relation)
                info = "SELECT name, type FROM pragma_table_xinfo(?, ?)"  # it knows generated columns too
                rows = self._connection.execute(info, (table, schema)).fetchall()
                declared = {name: kind.upper() for name, kind in rows}
        found = [(name, declared.get(name, "")) for name in names]
        return tuple(SourceColumn(name=name, type=_type(kind), native=kind) for name, kind in found)

    def expression(self, column: SourceColumn, wanted: ColumnType) -> str:
        return '"' + column.name.replace('"', '""') + '"'

    def state(self, clock: str | None) -> SourceState:
        text = self.answer(clock or "SELECT strftime('%Y-%m-%d %H:%M:%f', 'now') AS now")[0]["now"]
        return SourceState(now=datetime.fromisoformat(str(text)).replace(tzinfo=UTC))

    def has_transaction_ids(self, table: str | None) -> bool:
        return False

    def answer(self, query: str) -> Sequence[Mapping[str, Any]]:
        with sqlite_errors(self._subject):
            cursor = self._connection.execute(query)
            names = [each[0] for each in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]

    def rows(self, query: str, columns: Sequence[Column]) -> Iterator[pa.RecordBatch]:
        with sqlite_errors(self._subject, quiet=True):
            cursor = self._connection.execute(query)
            while rows := cursor.fetchmany(BATCH_ROWS):
                held = zip(*rows, strict=True)
                yield pa.record_batch(
                    [fitted(values, each, self._subject) for values, each in zip(held, columns, strict=True)],
                    names=[each.name for each in columns],
                )

    def close(self) -> None:
        self._connection.close()


def sqlite(connection: SqliteConnection, *, name: str, read_only: bool = False) -> sqlite3.Connection:
    """A connection without implicit transactions. A file that is not there is refused when it is only read."""
    subject = f"connection {name}"
    path = Path(filled(connection.path, subject=subject)).expanduser().absolute()
    with sqlite_errors(subject):
        return sqlite3.connect(
            f"{path.as_uri()}?mode={'ro' if read_only else 'rwc'}", uri=True, isolation_level=None, timeout=60
        )


@contextmanager
def sqlite_errors(subject: str, *, quiet: bool = False) -> Generator[None, None, None]:
    """Errors of the module as ours; `quiet` where messages could hold what rows hold."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorname", type(error).__name__)
        failed = database_error(subject, code=code, words=None if quiet else str(error))
    else:
        return
    raise failed from None


def fitted(values: Sequence[Any], column: Column, subject: str) -> pa.Array:
    """The values of one column in its type."""
    try:
        match column.type:
            case "timestamp":
                texts = pc.replace_substring_regex(pa.array(values, pa.string()), r"(Z|\+00:00)$", "")  # pyright: ignore[reportAttributeAccessIssue]
                return texts.cast(pa.timestamp("us")).cast(pa.timestamp("us", tz="UTC"))
            case "date":
                return pa.array(values, pa.string()).cast(pa.date32())
            case "boolean":
                return pa.array([_truth(each) for each in values], pa.bool_())
            case "double":
                return pa.array([None if each is None else float(each) for each in values], pa.float64())
            case "array<string>":
                return pa.array([None if each is None else json.loads(each) for each in values], pa.list_(pa.string()))
            case "string":
                return pa.array([each if each is None or isinstance(each, str) else str(each) for each in values])
            case _:
                return pa.array(values, arrow_type(column.type))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError, ValueError, KeyError):
        # Without the value: it may be sensitive, and the query finds it.
        failed = SourceError(
            subject=subject,
            seen=f"the column {column.name} has values that are no {column.type}",
            why="SQLite keeps what it is given; nothing of this step was kept",
            remedy=f"mend the values (SELECT … WHERE typeof({column.name}) …), or give the column the type string",
        )
    raise failed from None


_TRUTHS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}


def _truth(value: Any) -> bool | None:
    """SQLite knows no truth: it keeps numbers, and words where somebody wrote words."""
    return _TRUTHS[value.strip().lower()] if isinstance(value, str) else None if value is None else bool(value)


def _parts(relation: str) -> tuple[str, str]:
    """Schema and table of a quoted name."""
    parts = [each.replace('""', '"') for each in re.findall(r'"((?:[^"]|"")*)"', relation)]
    return (parts[0] if len(parts) > 1 else "main"), parts[-1]


def _type(declared: str) -> ColumnType:
    """By the words of the declared type, as SQLite itself goes by them."""
    for pattern, kind in _DECLARED:
        if re.search(pattern, declared):
            return kind
    return "string"


_DECLARED: tuple[tuple[str, ColumnType], ...] = (
    ("BOOL", "boolean"),
    ("TIME", "timestamp"),
    ("DATE", "date"),
    ("INT", "bigint"),
    ("REAL|FLOA|DOUB", "double"),
    ("BLOB", "binary"),
)
