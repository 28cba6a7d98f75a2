"""What a project's YAML says of rows that come from files and over HTTP."""

import re
from typing import Literal, Self, get_args

from pydantic import Field, field_validator, model_validator

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.connections import Frozen
from lakehouse_assets.contracts.table import Column, ColumnType, TableContract
from lakehouse_assets.core.text import nearest

FileFormat = Literal["csv", "tsv", "json", "jsonl", "parquet", "log", "text"]
FORMATS: tuple[str, ...] = get_args(FileFormat)

SOURCE = Column(name="source", type="string", description="File or page that the row came from.")
SOURCE_ROW = Column(name="source_row", type="bigint", description="Its number there, from 0.")
LANDED_KEY = (SOURCE.name, SOURCE_ROW.name)


class FileColumn(Frozen):
    """A column with a type of its own; columns that are not named come as text."""

    name: str
    type: ColumnType = "string"
    description: str = ""
    sensitive: bool = False
    separator: str = ""
    """For `array<string>` out of a text: what stands between its parts; without it, the text is a JSON list."""

    @model_validator(mode="after")
    def _parted(self) -> Self:
        if self.separator and self.type != "array<string>":
            raise ValueError(f"a separator goes with array<string>, and {self.name} is {self.type}")
        return self


class Landed(Frozen):
    """What files and pages have in common."""

    name: str
    records: str = ""
    """Where the rows are in a JSON document: names with dots between them; empty for the document itself."""
    keep: dict[str, str] = Field(default_factory=dict)
    """Columns out of what the rows are in: where each is in the document, on the way to the rows (`days.date`)."""
    columns: tuple[FileColumn, ...] = ()
    description: str = ""

    @field_validator("name")
    @classmethod
    def _named(cls, value: str) -> str:
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,62}", value) or value in CATALOG:
            raise ValueError("a name has small letters, digits and underscores, and is not one of the code graph's")
        return value


class FileIngest(Landed):
    """Files that a pattern names, each landed once, and again when its content changed."""

    path: str
    """A glob; `**` goes through folders."""
    format: FileFormat | str
    """One of the formats, or `package.module:function`: called with a path, it gives an Arrow table, or raises
    ValueError for a file that is none of its own."""
    pattern: str = ""
    """For logs and texts: a regular expression, whose named groups are the columns. It is looked for in each line of a
    log, and all over a text, whose rows are what it finds; without it, a text is one row with the column `text`."""
    unmatched: Literal["raise", "skip"] = "raise"
    """For logs and texts: whether a line, or a whole text, without a match makes the file a bad one."""
    nulls: tuple[str, ...] = ("",)
    """For csv and tsv: what stands for NULL."""
    delimiter: str = Field(default="", max_length=1)
    """For csv and tsv: what stands between values, if it is neither a comma nor a tab."""
    quote: Literal['"', "'", ""] = '"'
    """For csv and tsv: what values may stand in; empty if quotes are as good as any character."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.format not in FORMATS and ":" not in self.format:
            near = nearest(self.format, FORMATS)
            raise ValueError(
                f"a format is one of {', '.join(FORMATS)}, or package.module:function{near and f'; {near}'}"
            )
        try:
            groups = re.compile(self.pattern).groupindex
        except re.error as error:
            raise ValueError(f"the pattern is no regular expression: {error}") from None
        if (self.format == "log" or self.pattern) and not groups:
            raise ValueError("a pattern has named groups, which are the columns: (?P<name>…)")
        return self


class HttpIngest(Landed):
    """Pages of JSON. A page that is there is not fetched again, but the last one is: it may have grown."""

    url: str
    headers: dict[str, str] = Field(default_factory=dict)
    page_parameter: str = ""
    """Pages by number: the name of the query's parameter. They end with the first page without rows."""
    next: str = ""
    """Pages by reference: where in the document the next page's address is. They end where there is none."""
    first_page: int = 1
    per_second: float = Field(default=10, gt=0)
    retries: int = Field(default=5, ge=0)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.page_parameter and self.next:
            raise ValueError("pages go by number or by reference: give page_parameter or next, not both")
        return self


def landed_contract(landed: Landed, types: dict[str, ColumnType]) -> TableContract:
    """The contract of a table whose files or pages have these columns."""
    named = {each.name: each for each in landed.columns}
    columns = tuple(
        Column(
            name=name,
            type=named[name].type if name in named else kind,
            description=(named[name].description if name in named else "") or "As in the source.",
            nullable=True,
            sensitive=name in named and named[name].sensitive,
        )
        for name, kind in types.items()
        if name not in LANDED_KEY
    )
    return TableContract(
        name=landed.name,
        description=landed.description or "Rows of files or pages.",
        columns=(SOURCE, SOURCE_ROW, *columns),
        key=LANDED_KEY,
        owner=SOURCE.name,
        strategy="upsert",
        schema_policy="evolve",
    )
