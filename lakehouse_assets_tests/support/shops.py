"""A shop's orders in a real database, brought into a lake and out to another table; told as a test needs it."""

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from adbc_driver_postgresql import dbapi

from lakehouse_assets.contracts.connections import PostgresConnection, SqliteConnection
from lakehouse_assets.contracts.ingest import SqlProject
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.sources.sql.ingest import Landing
from lakehouse_assets.sources.sql.ingested import stored_contract
from lakehouse_assets.sources.sql.whole_way import deliver_table, ingest_table

NOW = {"postgresql": "clock_timestamp()", "sqlite": "strftime('%Y-%m-%d %H:%M:%f', 'now')"}
TYPES = {
    "postgresql": "id bigint PRIMARY KEY, customer text, amount numeric(12,2), price double precision, "
    "paid boolean, ordered date, updated_at timestamptz",
    "sqlite": "id INTEGER PRIMARY KEY, customer TEXT, amount NUMERIC, price REAL, paid BOOLEAN, ordered DATE, "
    "updated_at TIMESTAMP",
}
Row = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Shop:
    """Source table `orders`, lake table `shop_orders`, target table `orders_copy` in the same or another database."""

    settings: Settings
    source: PostgresConnection | SqliteConnection
    target: PostgresConnection | SqliteConnection
    more: dict[str, Any]
    """What the ingest says beyond its table and key."""
    deliver: dict[str, Any]

    @property
    def project(self) -> SqlProject:
        ingest = {"name": "shop_orders", "connection": "shop", "table": "orders", "key": ["id"], **self.more}
        if "first_query" in ingest:
            del ingest["table"]
        return SqlProject.model_validate(
            {
                "connections": {"shop": self.source.model_dump(), "reports": self.target.model_dump()},
                "ingest": [ingest],
                "deliver": [{"asset": "shop_orders", "connection": "reports", "table": "orders_copy", **self.deliver}],
            }
        )

    @property
    def now(self) -> str:
        return NOW[self.source.kind]

    def make(self) -> None:
        self.run(f"CREATE TABLE orders ({TYPES[self.source.kind]})")

    def add(self, *ids: int, customer: str = "Ann", at: str | None = None) -> None:
        values = ", ".join(
            f"({n}, '{customer}', {n}.5, {n} / 3.0, {n} % 2 = 0, '2026-01-02', {at or self.now})" for n in ids
        )
        self.run(f"INSERT INTO orders (id, customer, amount, price, paid, ordered, updated_at) VALUES {values}")

    def change(self, *ids: int, customer: str = "Bob", at: str | None = None) -> None:
        chosen = ", ".join(map(str, ids))
        self.run(f"UPDATE orders SET customer = '{customer}', updated_at = {at or self.now} WHERE id IN ({chosen})")

    def remove(self, *ids: int) -> None:
        self.run(f"DELETE FROM orders WHERE id IN ({', '.join(map(str, ids))})")

    def run(self, *statements: str) -> None:
        run_sql(self.source, statements)

    def ingest(self, **options: Any) -> Landing:
        time.sleep(0.002)  # SQLite writes milliseconds, and rows of the present one have to wait
        return ingest_table(self.settings, self.project, self.project.ingest[0], **options)

    def send(self, **options: Any) -> dict[str, Any]:
        return deliver_table(self.settings, self.project, self.project.deliver[0], **options)

    def cycle(self) -> Landing:
        """Bring in, send out, and see that all three are equal."""
        done = self.ingest()
        self.send()
        self.all_equal()
        return done

    def all_equal(self) -> None:
        there = self.source_rows()
        assert self.lake_rows() == there
        assert table_rows(self.target, "orders_copy", self.columns) == there
        assert not [name for name in tables(self.target) if name.startswith("lakehouse_staging")]

    @property
    def columns(self) -> list[str]:
        contract = stored_contract(Lake(self.settings.lake), self.project.ingest[0])
        assert contract is not None
        return list(contract.column_names)

    def source_rows(self) -> list[Row]:
        return table_rows(self.source, "orders", self.columns)

    def lake_rows(self) -> list[Row]:
        contract = stored_contract(Lake(self.settings.lake), self.project.ingest[0])
        assert contract is not None
        return rows_of(Lake(self.settings.lake).read(contract))


def run_sql(connection: PostgresConnection | SqliteConnection, statements: Sequence[str]) -> None:
    if isinstance(connection, SqliteConnection):
        with sqlite3.connect(connection.path) as held:
            for statement in statements:
                held.execute(statement)
        held.close()
        return
    with dbapi.connect(connection.uri) as held, held.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        held.commit()


def table_rows(connection: PostgresConnection | SqliteConnection, table: str, columns: Sequence[str]) -> list[Row]:
    """All rows as comparable values: numbers as numbers, all else as text."""
    listed = ", ".join(f'"{name}"' for name in columns)
    if isinstance(connection, SqliteConnection):
        held = sqlite3.connect(connection.path)
        rows = held.execute(f"SELECT {listed} FROM {table}").fetchall()
        held.close()
        return sorted(tuple(map(_plain, row)) for row in rows)
    with dbapi.connect(connection.uri) as held, held.cursor() as cursor:
        cursor.execute(f"SELECT {listed} FROM {table}")
        return rows_of(cursor.fetch_arrow_table())


def tables(connection: PostgresConnection | SqliteConnection) -> list[str]:
    if isinstance(connection, SqliteConnection):
        held = sqlite3.connect(connection.path)
        rows = held.execute("SELECT name FROM sqlite_master").fetchall()
        held.close()
        return [name for (name,) in rows]
    with dbapi.connect(connection.uri) as held, held.cursor() as cursor:
        cursor.execute("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'")
        return [name for (name,) in cursor.fetchall()]


def rows_of(table: pa.Table) -> list[Row]:
    columns: list[list[Any]] = []
    for held in table.columns:
        if pa.types.is_timestamp(held.type):
            held = held.cast(pa.timestamp("us")).cast(pa.string())
        elif isinstance(held.type, pa.BaseExtensionType):
            held = held.cast(held.type.storage_type)
        columns.append([_plain(each) for each in held.to_pylist()])
    return sorted(zip(*columns, strict=True))


def _plain(value: Any) -> Any:
    """SQLite has no types of its own for truth, days, moments and exact numbers."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    text = str(value)
    head, dot, fraction = text.partition(".")
    if dot and fraction.strip("0123456789") == "" and (":" in head or head.lstrip("-").isdecimal()):
        fraction = fraction.rstrip("0")
        return f"{head}.{fraction}" if fraction else head
    return text
