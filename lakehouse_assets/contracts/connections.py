"""Databases that rows come from and go to, as a project's YAML names them.

A secret stands in the YAML only as `${NAME}` and is put in its place when a connection is opened, so that whatever
prints a connection prints the name of the variable.
"""

import os
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from lakehouse_assets.core.variables import filled_text


class Frozen(BaseModel):
    """What a YAML file says: unknown words are refused, and nothing is changed after it was read."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class PostgresConnection(Frozen):
    """A PostgreSQL database, by the address that libpq takes (`postgresql://…`)."""

    kind: Literal["postgresql"]
    uri: str


class SqliteConnection(Frozen):
    """A SQLite file."""

    kind: Literal["sqlite"]
    path: str


class JdbcConnection(Frozen):
    """Any database with a JDBC driver, read through Spark. `driver_jar` is put on Spark's class path."""

    kind: Literal["jdbc"]
    url: str
    driver: str
    driver_jar: str
    user: str = ""
    password: str = ""
    clock: str = "SELECT CURRENT_TIMESTAMP AS now"
    """A query for the database's clock: one row with the column `now`."""


Connection = Annotated[PostgresConnection | SqliteConnection | JdbcConnection, Field(discriminator="kind")]


def filled(text: str, *, subject: str) -> str:
    """`text` with the environment's values in the place of `${NAME}`; a variable that is not set is refused."""
    return filled_text(text, os.environ, subject=subject)
