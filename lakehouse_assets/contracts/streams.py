"""What a project's YAML says of streams: where rows come from without end, and the table that they go to."""

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.connections import Frozen
from lakehouse_assets.contracts.table import Column, ColumnType, TableContract, ViolationPolicy
from lakehouse_assets.core.hashing import json_fingerprint


class StreamColumn(Frozen):
    """A column of the table that a stream fills."""

    name: str
    type: ColumnType
    description: str = ""
    nullable: bool = True
    sensitive: bool = False


class StreamFiles(Frozen):
    """Files that turn up in a folder, whole; each is read once."""

    kind: Literal["files"]
    path: str
    format: Literal["json", "csv", "parquet"]
    options: dict[str, str] = Field(default_factory=dict)
    """Spark's own for the format, such as `header: 'true'`."""


class StreamTable(Frozen):
    """The change feed of a table of the lake."""

    kind: Literal["table"]
    table: str


class StreamSpec(Frozen):
    """One stream. A stream of a table has that table's columns unless others are named."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,62}$")
    source: Annotated[StreamFiles | StreamTable, Field(discriminator="kind")]
    key: tuple[str, ...] = Field(min_length=1)
    columns: tuple[StreamColumn, ...] = ()
    newest_by: str | None = None
    """Of several rows of a key that come together, the one with the highest value of this column counts."""
    description: str = ""
    violations: ViolationPolicy = "fail"

    @field_validator("name")
    @classmethod
    def _free(cls, value: str) -> str:
        if value in CATALOG:
            raise ValueError(f"{value} is a table of the code graph; give another name")
        return value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if isinstance(self.source, StreamFiles) and not self.columns:
            raise ValueError(
                "a stream of files needs columns with types: they cannot be guessed from what is yet to come"
            )
        if isinstance(self.source, StreamTable) and self.source.table not in CATALOG:
            raise ValueError(f"there is no table {self.source.table} in the lake")
        names = [each.name for each in self.columns]
        for each in (*self.key, *([self.newest_by] if self.newest_by else [])):
            if names and each not in names:
                raise ValueError(f"{each} is not one of the columns {', '.join(names)}")
        return self

    @property
    def contract(self) -> TableContract:
        """The table that the stream fills."""
        said = self.columns or (
            tuple(
                StreamColumn(name=each.name, type=each.type, description=each.description, nullable=each.nullable)
                for each in CATALOG[self.source.table].columns
            )
            if isinstance(self.source, StreamTable)
            else ()
        )
        columns = tuple(
            Column(
                name=each.name,
                type=each.type,
                description=each.description or "As it came.",
                nullable=each.nullable and each.name not in self.key,
                sensitive=each.sensitive,
            )
            for each in said
        )
        return TableContract(
            name=self.name,
            description=self.description or "Rows of a stream.",
            columns=columns,
            key=self.key,
            strategy="upsert",
            violations=self.violations,
        )

    @property
    def settings_hash(self) -> str:
        return json_fingerprint(self.model_dump(mode="json", exclude={"description"}))
