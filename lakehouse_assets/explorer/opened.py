"""A lake as notebooks and scripts use it: tables and queries, now or at a commit, in the form that suits.

Invariant: reading only. Cost: nothing is read before a form is asked for; then the files of the tables that are named.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.lake.frames import frame_of

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow
    from pyspark.sql import DataFrame

_SHOWN = 20


def open_lake(home: str | Path | None = None) -> "OpenLake":
    """The lake of `home`; without it that of LAKEHOUSE_HOME, as the command takes it."""
    import os

    environ = dict(os.environ) if home is None else {**os.environ, "LAKEHOUSE_HOME": str(home)}
    return OpenLake(settings=load_settings(environ))


@dataclass(frozen=True, kw_only=True)
class OpenLake:
    settings: Settings

    def tables(self) -> list[str]:
        """Names of the tables that have been made."""
        from lakehouse_assets.contracts.catalog import CATALOG
        from lakehouse_assets.lake.tables import Lake

        lake = Lake(self.settings.lake)
        return [contract.name for contract in CATALOG.values() if lake.exists(contract)]

    def table(self, name: str, *, at: str | None = None) -> "Rows":
        """A table, now or `at` REPO@COMMIT (then the rows of that repository alone)."""
        from lakehouse_assets.contracts.catalog import CATALOG
        from lakehouse_assets.core.errors import BadInputError

        if name not in CATALOG:
            raise BadInputError(
                subject=f"table {name!r}",
                seen="no table has this name",
                why="there is nothing to read",
                remedy=f"the tables are {', '.join(self.tables()) or 'not made yet'}",
            )
        return self.query(f'SELECT * FROM "{name}"', at=at)

    def query(self, sql: str, *, at: str | None = None) -> "Rows":
        """A query in DuckDB's SQL over the tables, now or `at` REPO@COMMIT."""
        return Rows(settings=self.settings, sql=sql, at=at)


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows that are read when a form of them is asked for; asked again, they are read again."""

    settings: Settings
    sql: str
    at: str | None

    def arrow(self) -> "pyarrow.Table":
        with self._asked() as relation:
            return relation.to_arrow_table()

    def polars(self) -> "polars.DataFrame":
        import polars

        frame = polars.from_arrow(self.arrow())
        assert isinstance(frame, polars.DataFrame)  # of a table; only an array would be a series
        return frame

    def pandas(self) -> "pandas.DataFrame":
        return self.arrow().to_pandas()

    def duckdb(self) -> "duckdb.DuckDBPyRelation":
        """A relation of a connection of its own, to ask on in DuckDB."""
        from lakehouse_assets.lake.local_sql import new_database

        connection = new_database()
        self._name_tables(connection)
        return connection.sql(self.sql)

    def spark(self) -> "DataFrame":
        """A frame of this process's Spark session, which is started if it has to be."""
        from lakehouse_assets.lake.session import runtime_for

        return frame_of(runtime_for(self.settings).session, self.arrow())

    def _repr_html_(self) -> str:
        """The first rows, as notebooks show them; every value is text."""
        with self._asked() as relation:
            names = relation.columns
            rows = relation.limit(_SHOWN).fetchall()
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    @contextmanager
    def _asked(self) -> "Iterator[duckdb.DuckDBPyRelation]":
        from lakehouse_assets.lake.local_sql import refuse_statements, user_sql
        from lakehouse_assets.lake.tables import Lake

        with user_sql(Lake(self.settings.lake).root) as connection:
            self._name_tables(connection)
            refuse_statements(connection, self.sql)
            yield connection.sql(self.sql)

    def _name_tables(self, connection: "duckdb.DuckDBPyConnection") -> None:
        from lakehouse_assets.lake.query import tables_now
        from lakehouse_assets.lake.tables import Lake

        lake = Lake(self.settings.lake)
        if self.at is None:
            found = tables_now(lake, self.sql)
        else:
            from lakehouse_assets.assets.published import find_published
            from lakehouse_assets.lake.query import tables_at

            found = tables_at(lake, find_published(self.settings, self.at), self.sql)
        for name, relation in found.relations.items():
            connection.execute(f'CREATE OR REPLACE TEMP VIEW "{name}" AS FROM {relation}')


def _cell(value: Any) -> str:
    return "" if value is None else escape(str(value)[:200])
