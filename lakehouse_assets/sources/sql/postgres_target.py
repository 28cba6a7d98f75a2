"""PostgreSQL as a target: Arrow goes in by binary COPY, and SQL in the database does the rest."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from lakehouse_assets.contracts.connections import PostgresConnection
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import Column
from lakehouse_assets.lake.rows import conform
from lakehouse_assets.plan.delivery_sql import CURSORS, Statement, create_cursors
from lakehouse_assets.plan.source_sql import quoted_table, text_literal
from lakehouse_assets.sources.sql.overtaken import overtaken
from lakehouse_assets.sources.sql.postgres import batches_of, plain_rows, postgres, postgres_errors
from lakehouse_assets.sources.sql.target import DeliveryState, MergeCounts, TargetDatabase


class PostgresTarget(TargetDatabase):
    kind = "postgresql"

    def __init__(self, connection: PostgresConnection, *, name: str) -> None:
        self._subject = f"connection {name}"
        self._held = postgres(connection, name=name)
        self._connection = self._held.__enter__()

    def table_columns(self, table: str) -> dict[str, str] | None:
        name = text_literal(quoted_table(table))
        rows = self._ask(
            "SELECT attname::text AS name, format_type(atttypid, NULL) AS type FROM pg_attribute "
            f"WHERE attrelid = to_regclass({name}) AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
        )
        return {row["name"]: row["type"] for row in rows} or None

    def state(self, delivery: str) -> DeliveryState | None:
        if self.table_columns(CURSORS) is None:
            self.run([Statement(sql=create_cursors(self.kind))])
        return self._state(delivery, "")

    def row_count(self, table: str) -> int:
        return self._ask(f"SELECT count(*) AS rows FROM {quoted_table(table)}")[0]["rows"]

    def run(self, statements: Sequence[Statement]) -> MergeCounts:
        with postgres_errors(self._subject, quiet=True):
            counts = self._execute(statements)
            self._connection.commit()
        return counts

    def merge(self, delivery: str, expected: str | None, statements: Sequence[Statement]) -> MergeCounts:
        with postgres_errors(self._subject, quiet=True):
            self._connection.rollback()
            held = self._state(delivery, " FOR UPDATE")
            if (held.position if held else None) != expected:
                raise overtaken(delivery)
            counts = self._execute(statements)
            self._connection.commit()
        return counts

    def load(self, table: str, rows: Iterator[pa.RecordBatch], columns: Sequence[Column]) -> None:
        schema, _, name = table.rpartition(".")
        reader = pa.RecordBatchReader.from_batches(arrow_schema(columns), rows)
        with postgres_errors(self._subject, quiet=True), self._connection.cursor() as cursor:
            cursor.adbc_ingest(name, reader, mode="append", db_schema_name=schema or None)
            self._connection.commit()
            cursor.execute(f"ANALYZE {quoted_table(table)}")
            self._connection.commit()

    def rows(self, query: str, columns: Sequence[Column]) -> Iterator[pa.RecordBatch]:
        with postgres_errors(self._subject, quiet=True), self._connection.cursor() as cursor:
            cursor.execute(query)
            for batch in batches_of(cursor.fetch_record_batch(), self._subject):
                yield from conform(pa.Table.from_batches([batch]), columns).to_batches()

    def tables_like(self, table: str, prefix: str) -> tuple[str, ...]:
        schema, _, _ = table.rpartition(".")
        place = text_literal(schema) if schema else "current_schema()"
        rows = self._ask(
            f"SELECT tablename::text AS name FROM pg_tables WHERE schemaname = {place} "
            f"AND starts_with(tablename, {text_literal(prefix)})"
        )
        return tuple(row["name"] for row in rows)

    def close(self) -> None:
        self._held.__exit__(None, None, None)

    def _state(self, delivery: str, lock: str) -> DeliveryState | None:
        # A locking query cannot be copied out, which is how the driver fetches; so it is locked first.
        where = f"FROM {CURSORS} WHERE delivery = {text_literal(delivery)}"
        if lock:
            self._execute([Statement(sql=f"LOCK TABLE {CURSORS} IN SHARE ROW EXCLUSIVE MODE")])
        rows = self._ask(f"SELECT position, reconciled {where}")
        return DeliveryState(**rows[0]) if rows else None

    def _ask(self, query: str) -> list[dict[str, Any]]:
        with postgres_errors(self._subject), self._connection.cursor() as cursor:
            cursor.execute(query)
            return plain_rows(cursor.fetch_arrow_table())

    def _execute(self, statements: Sequence[Statement]) -> MergeCounts:
        counts: dict[str, int] = {}
        with self._connection.cursor() as cursor:
            for each in statements:
                if each.counts:
                    # The driver tells no number of rows of a statement; a query over its results does.
                    counted = f"WITH done AS ({each.sql} RETURNING 1) SELECT count(*) AS rows FROM done"
                    cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})
                    cursor.execute(counted)
                    counts[each.counts] = cursor.fetch_arrow_table()["rows"][0].as_py()
                else:
                    cursor.execute(each.sql)
        return MergeCounts(**counts)
