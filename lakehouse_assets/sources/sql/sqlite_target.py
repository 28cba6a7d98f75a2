"""SQLite as a target: rows go in by prepared inserts, and SQL in the database does the rest.

Moments are text in UTC with six digits, arrays are JSON, truth is 0 or 1. What is not a number is NULL: SQLite keeps
no NaN.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakehouse_assets.contracts.connections import SqliteConnection
from lakehouse_assets.contracts.table import Column
from lakehouse_assets.plan.delivery_sql import CURSORS, Statement, create_cursors
from lakehouse_assets.plan.source_sql import quoted, quoted_table
from lakehouse_assets.sources.sql.overtaken import overtaken
from lakehouse_assets.sources.sql.sqlite import BATCH_ROWS, fitted, sqlite, sqlite_errors
from lakehouse_assets.sources.sql.target import DeliveryState, MergeCounts, TargetDatabase


class SqliteTarget(TargetDatabase):
    kind = "sqlite"

    def __init__(self, connection: SqliteConnection, *, name: str) -> None:
        self._subject = f"connection {name}"
        self._connection = sqlite(connection, name=name)

    def table_columns(self, table: str) -> dict[str, str] | None:
        with sqlite_errors(self._subject):
            rows = self._connection.execute("SELECT name, type FROM pragma_table_info(?)", (table,)).fetchall()
        return {name: kind.partition("(")[0].upper() for name, kind in rows} or None

    def state(self, delivery: str) -> DeliveryState | None:
        self.run([Statement(sql=create_cursors(self.kind))])
        return self._state(delivery)

    def row_count(self, table: str) -> int:
        with sqlite_errors(self._subject):
            return self._connection.execute(f"SELECT count(*) FROM {quoted_table(table)}").fetchone()[0]

    def run(self, statements: Sequence[Statement]) -> MergeCounts:
        with sqlite_errors(self._subject, quiet=True):
            self._connection.execute("BEGIN IMMEDIATE")
            return self._finish(statements)

    def merge(self, delivery: str, expected: str | None, statements: Sequence[Statement]) -> MergeCounts:
        with sqlite_errors(self._subject, quiet=True):
            self._connection.execute("BEGIN IMMEDIATE")
            held = self._state(delivery)
            if (held.position if held else None) != expected:
                self._connection.execute("ROLLBACK")
                raise overtaken(delivery)
            return self._finish(statements)

    def held(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        for place, field in enumerate(rows.schema):
            if pa.types.is_floating(field.type):
                values = rows.column(place)
                known = pc.if_else(pc.is_nan(values), pa.scalar(None, field.type), values)  # pyright: ignore[reportAttributeAccessIssue]
                rows = rows.set_column(place, field, known)
        return rows

    def load(self, table: str, rows: Iterator[pa.RecordBatch], columns: Sequence[Column]) -> None:
        places = ", ".join("?" for _ in columns)
        names = ", ".join(quoted(each.name) for each in columns)
        insert = f"INSERT INTO {quoted_table(table)} ({names}) VALUES ({places})"
        with sqlite_errors(self._subject, quiet=True):
            self._connection.execute("BEGIN IMMEDIATE")
            for batch in rows:
                held = [_plain(batch.column(each.name), each) for each in columns]
                self._connection.executemany(insert, zip(*held, strict=True))
            self._connection.execute("COMMIT")

    def rows(self, query: str, columns: Sequence[Column]) -> Iterator[pa.RecordBatch]:
        with sqlite_errors(self._subject, quiet=True):
            cursor = self._connection.execute(query)
            while rows := cursor.fetchmany(BATCH_ROWS):
                held = zip(*rows, strict=True)
                arrays = [fitted(values, each, self._subject) for values, each in zip(held, columns, strict=True)]
                yield pa.record_batch(arrays, names=[each.name for each in columns])

    def tables_like(self, table: str, prefix: str) -> tuple[str, ...]:
        with sqlite_errors(self._subject):
            rows = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return tuple(name for (name,) in rows if name.startswith(prefix))

    def close(self) -> None:
        self._connection.close()  # an open transaction is rolled back

    def _state(self, delivery: str) -> DeliveryState | None:
        with sqlite_errors(self._subject):
            query = f"SELECT position, reconciled FROM {CURSORS} WHERE delivery = ?"
            row = self._connection.execute(query, (delivery,)).fetchone()
        return DeliveryState(position=row[0], reconciled=bool(row[1])) if row else None

    def _finish(self, statements: Sequence[Statement]) -> MergeCounts:
        counts: dict[str, int] = {}
        for each in statements:
            cursor = self._connection.execute(each.sql)
            if each.counts:
                counts[each.counts] = cursor.rowcount
        self._connection.execute("COMMIT")
        return MergeCounts(**counts)


def _plain(values: pa.Array, column: Column) -> list[Any]:
    match column.type:
        case "timestamp":
            moments = values.cast(pa.timestamp("us"))
            return pc.strftime(moments, format="%Y-%m-%d %H:%M:%S").to_pylist()  # pyright: ignore[reportAttributeAccessIssue]
        case "date":
            return values.cast(pa.string()).to_pylist()
        case "array<string>":
            return [None if each is None else json.dumps(each, ensure_ascii=False) for each in values.to_pylist()]
        case _:
            return values.to_pylist()
