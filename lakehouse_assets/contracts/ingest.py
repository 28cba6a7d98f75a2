"""What a project's YAML says of rows that come in from databases and go out to them.

One file has named connections, tables to ingest and tables to deliver. The same classes are the Python way: an
`Ingest` made in code is worth the same as one that was read.
"""

import re
from collections.abc import Collection
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.connections import Connection, Frozen
from lakehouse_assets.contracts.files import LANDED_KEY, FileIngest, HttpIngest
from lakehouse_assets.contracts.named_columns import NamedColumn
from lakehouse_assets.contracts.streams import StreamSpec, StreamTable
from lakehouse_assets.contracts.table import Column, ColumnType, SchemaPolicy, TableContract, ViolationPolicy
from lakehouse_assets.core.hashing import json_fingerprint

IngestStrategy = Literal["timestamp", "id", "timestamp_and_id", "snapshot", "append"]
"""How changes are found: by a timestamp that every write sets; by an id that only grows (rows never change); by both,
an id for new rows and a timestamp for changed ones; by comparing all rows, which alone finds deletes; or by timestamp
or id where rows that are there are never changed."""

NullPolicy = Literal["raise", "include", "exclude"]
"""What happens to rows without a cursor value: the run is refused, they are read each time, or never."""

GapPolicy = Literal["reread", "report", "off"]
"""What happens to rows that turn up behind the mark where rows do not tell which transaction wrote them: read after
all, told of, or not looked for. Rows of PostgreSQL's tables tell it, so that those that came late are always read."""

DeliveryPolicy = Literal["refuse", "evolve"]
"""What happens where the target table lacks a column: the delivery is refused, or the column is added."""

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")


class Ingest(Frozen):
    """One table that is kept up with its source by a high-water mark."""

    name: str
    connection: str
    table: str | None = None
    first_query: str | None = None
    """Instead of a table: a SELECT for all rows; may use `:until` and `:until_id`."""
    incremental_query: str | None = None
    """A SELECT for the rows of a window: `:mark`, `:until`, `:mark_id`, `:until_id`, half-open."""
    key: tuple[str, ...] = Field(min_length=1)
    strategy: IngestStrategy
    timestamp: str | None = None
    id: str | None = None
    lag_seconds: float = Field(default=0, ge=0)
    """How long rows may take to become visible: the window ends so long before the source's clock."""
    clock: str | None = None
    """A query for the source's time in the column `now`, if it is not the database's own clock."""
    null_cursor: NullPolicy = "raise"
    gaps: GapPolicy = "reread"
    columns: tuple[NamedColumn, ...] = ()
    """What is said of some of them; what is not named is taken from the source as it is."""
    only_columns: bool = False
    """Whether columns that are not named above, and are neither key nor cursor, are left out."""
    description: str = ""
    schema_policy: SchemaPolicy = "evolve"
    violations: ViolationPolicy = "fail"

    @field_validator("name")
    @classmethod
    def _named(cls, value: str) -> str:
        if not _NAME.fullmatch(value):
            raise ValueError("a name has small letters, digits and underscores, and begins with a letter")
        if value in CATALOG:
            raise ValueError(f"{value} is a table of the code graph; give another name")
        return value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.table is None) == (self.first_query is None):
            raise ValueError("give either a table or a first_query")
        if self.incremental_query is not None and self.strategy == "snapshot":
            raise ValueError("a snapshot reads all rows: there is no incremental query")
        needed = {"timestamp": {"timestamp"}, "id": {"id"}, "timestamp_and_id": {"timestamp", "id"}}
        given = {name for name in ("timestamp", "id") if getattr(self, name)}
        match self.strategy:
            case "snapshot":
                if given:
                    raise ValueError("a snapshot compares all rows: it has no timestamp and no id")
            case "append":
                if len(given) != 1:
                    raise ValueError("append goes by a timestamp or by an id: give one of them")
            case _:
                if given != needed[self.strategy]:
                    raise ValueError(
                        f"the strategy {self.strategy} goes by {' and '.join(sorted(needed[self.strategy]))}"
                    )
        sensitive = {each.name for each in self.columns if each.sensitive}
        if shown := sorted(sensitive & {self.timestamp, self.id}):
            raise ValueError(f"{shown[0]} is sensitive, and marks and queries would show it: it cannot be the cursor")
        return self

    @property
    def cursors(self) -> tuple[str, ...]:
        return tuple(name for name in (self.timestamp, self.id) if name)

    @property
    def settings_hash(self) -> str:
        """Fingerprint of what decides which rows are read and how they are kept."""
        return json_fingerprint(self.model_dump(mode="json", exclude={"description", "connection"}))


class Delivery(Frozen):
    """A table of the lake, or a model, that is sent to a database and kept equal there."""

    asset: str
    connection: str
    table: str
    environment: str | None = None
    """The environment that says which version is sent; without it, of a model that of `prod`, of a table the newest."""
    schema_policy: DeliveryPolicy = "refuse"
    adopt: bool = False
    """Whether a target table that has rows of others already may be made equal to the lake's."""

    @property
    def name(self) -> str:
        return f"{self.asset} to {self.connection}.{self.table}"


class SqlProject(Frozen):
    """All of a project's files together."""

    connections: dict[str, Connection] = Field(default_factory=dict)
    ingest: tuple[Ingest, ...] = ()
    files: tuple[FileIngest, ...] = ()
    http: tuple[HttpIngest, ...] = ()
    deliver: tuple[Delivery, ...] = ()
    streams: tuple[StreamSpec, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for each in (*self.ingest, *self.deliver):
            if each.connection not in self.connections:
                raise ValueError(f"{each.name}: there is no connection {each.connection}")
        for names in ([*self.tables, *(each.name for each in self.streams)], [each.name for each in self.deliver]):
            if doubled := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"{doubled[0]} is there twice")
        for each in self.streams:
            self._check_stream(each)
        return self

    def _check_stream(self, stream: StreamSpec) -> None:
        """Its table is there, is not made of the stream itself, and tells its rows apart as the stream does."""
        streams = {each.name: each.source for each in self.streams}
        seen, table = [stream.name], stream.source.table if isinstance(stream.source, StreamTable) else None
        while table is not None:
            seen.append(table)
            if table in seen[:-1]:
                raise ValueError(f"{stream.name} is made of itself: {' from '.join(seen)}")
            if not self.has_table(table):
                raise ValueError(f"{stream.name}: there is no table {table} in the lake, or among what comes in")
            source = streams.get(table)
            table = source.table if isinstance(source, StreamTable) else None
        if isinstance(stream.source, StreamTable) and stream.key:
            key = self._key_of(stream.source.table)
            if set(stream.key) != set(key):
                raise ValueError(
                    f"{stream.name}: rows of {stream.source.table} are told apart by {', '.join(key)}; by another key, "
                    "one that is deleted would take others along"
                )

    def _key_of(self, table: str) -> tuple[str, ...]:
        if table in CATALOG:
            return CATALOG[table].key
        for stream in self.streams:
            if stream.name == table:
                return stream.key or (
                    self._key_of(stream.source.table) if isinstance(stream.source, StreamTable) else ()
                )
        return next((each.key for each in self.ingest if each.name == table), LANDED_KEY)

    @property
    def tables(self) -> list[str]:
        """What comes in, by name."""
        return [each.name for each in (*self.ingest, *self.files, *self.http)]

    def has_table(self, name: str) -> bool:
        """Whether it is a table of the lake by the project's own word; else it can only be a model."""
        return name in CATALOG or name in self.tables or any(each.name == name for each in self.streams)

    def deliveries_of(self, asset: str) -> tuple[Delivery, ...]:
        return tuple(each for each in self.deliver if each.asset == asset)


def ingest_contract(
    ingest: Ingest, types: dict[str, ColumnType], numbers: Collection[str] = frozenset()
) -> TableContract:
    """The contract of an ingested table whose source, or whose table in the lake, has these columns.

    `numbers` are those that are numbers at the source.
    """
    named = {each.name: each for each in ingest.columns}
    needed = {*named, *ingest.key, *ingest.cursors}
    chosen = [name for name in types if not ingest.only_columns or name in needed]
    columns = tuple(
        (named.get(name) or NamedColumn(name=name)).over(
            Column(
                name=name,
                type=types[name],
                description="As in the source.",
                nullable=True,
                number=name in numbers and types[name] == "string",
            ),
            in_key=name in ingest.key,
        )
        for name in chosen
    )
    return TableContract(
        name=ingest.name,
        description=ingest.description or f"Rows of {ingest.table or 'a query'} in {ingest.connection}.",
        columns=columns,
        key=ingest.key,
        strategy="append_new" if ingest.strategy == "append" else "upsert",
        schema_policy=ingest.schema_policy,
        violations=ingest.violations,
    )
