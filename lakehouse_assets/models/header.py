"""The header of a model: the YAML in the comment that its file begins with, typed and refused early."""

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from lakehouse_assets.contracts.table import ColumnType
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.problems import first_problem
from lakehouse_assets.core.text import lines_of
from lakehouse_assets.models.audits import Audit

Materialization = Literal["view", "full", "by_key", "by_partition", "by_time"]
"""`view` is not stored; `full` is made as a whole; `by_key` merges what the query gives and keeps the rest;
`by_partition` is made partition by partition, from the inputs' rows of the same partition; `by_time` is made interval
by interval, each once."""

Interval = Literal["day", "month"]

STEPPED = ".model.yaml"
"""How the name of a file ends whose model is a list of steps."""

_HEADER = re.compile(r"\A\s*/\*[ \t]*model[ \t]*\n(?P<yaml>.*?)\*/", re.DOTALL)
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_TAG = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,58}[A-Za-z0-9])?")


_SAID = {None: False, True: True, False: "no"}
"""What of a column is sensitive, in fingerprints: silence counts as it did before it could be said."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelColumn(_Frozen):
    """What a header may say of a column; its type is that of the query unless it is given."""

    description: str = ""
    type: ColumnType | None = None
    sensitive: bool | None = None
    """Unless it is said, a column is sensitive that is computed from what is."""


class Header(_Frozen):
    """What a model's file says of it beside the query."""

    name: str
    description: str = ""
    owner: str = ""
    tags: tuple[str, ...] = ()
    materialization: Materialization = "full"
    key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    time_column: str | None = None
    interval: Interval = "day"
    start: date | None = None
    lookback: int = Field(default=0, ge=0)
    columns: dict[str, ModelColumn] = Field(default_factory=dict)
    audits: tuple[Audit, ...] = ()

    @field_validator("columns", mode="before")
    @classmethod
    def _descriptions(cls, value: Any) -> Any:
        """`name: text` is short for a column of which only the description is given."""
        if not isinstance(value, dict):
            return value
        return {name: {"description": said} if isinstance(said, str) else said or {} for name, said in value.items()}

    @field_validator("name")
    @classmethod
    def _plain(cls, value: str) -> str:
        if not _NAME.fullmatch(value):
            raise ValueError("a name has lower-case letters and digits, in words joined by single underscores")
        return value

    @field_validator("tags")
    @classmethod
    def _words(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        wrong = next((tag for tag in value if not _TAG.fullmatch(tag)), None)
        if wrong is not None:
            raise ValueError(f"{wrong!r} is no tag: up to 60 letters, digits, and . _ - between them")
        return value

    @model_validator(mode="after")
    def _fits(self) -> Self:
        stored = self.materialization != "view"
        if stored and not self.key:
            raise ValueError(f"a model stored as {self.materialization} needs a key, by which its rows are told apart")
        if not stored and (self.partition_by or self.cluster_by):
            raise ValueError("a view is not stored, so it has neither partition_by nor cluster_by")
        if self.materialization == "by_partition" and len(self.partition_by) != 1:
            raise ValueError("by_partition needs one column in partition_by")
        if self.materialization in ("full", "by_key", "by_time") and self.partition_by:
            raise ValueError(f"partition_by goes with by_partition, not with {self.materialization}")
        if (self.materialization == "by_time") != (self.time_column is not None):
            raise ValueError("time_column goes with by_time, and by_time with it")
        if self.materialization == "by_time" and self.start is None:
            raise ValueError("by_time needs a start: the day of its first interval")
        labels = [each.label for each in self.audits]
        twice = next((label for label in labels if labels.count(label) > 1), None)
        if twice is not None:
            raise ValueError(f"two audits are called {twice}, and checks are known by their names")
        return self

    @property
    def stored_by(self) -> tuple[str, ...]:
        """The columns that partition the table."""
        return (self.time_column,) if self.time_column else self.partition_by

    @property
    def data(self) -> dict[str, Any]:
        """What of the header decides the rows and how they are stored."""
        types = {name: column.type for name, column in sorted(self.columns.items()) if column.type}
        chosen = {"materialization", "key", "partition_by", "cluster_by", "time_column"}
        part = self.model_dump(mode="json", include=chosen) | {"types": types}
        if self.materialization == "by_time":
            part |= {"interval": self.interval, "start": str(self.start)}
        return part

    @property
    def metadata(self) -> dict[str, Any]:
        """What of the header people read, and what is asked of the rows after they were made."""
        chosen = {"description", "owner", "tags", "lookback"}
        columns = {name: [each.description, _SAID[each.sensitive]] for name, each in self.columns.items()}
        audits = [each.model_dump(mode="json") for each in self.audits]
        return self.model_dump(mode="json", include=chosen) | {"columns": columns, "audits": audits}


def read_header(path: Path, text: str) -> Header:
    """The header of a file; its name is the file's unless it says another."""
    found = _HEADER.match(text)
    if found is None:
        raise _wrong(path, 1, "it does not begin with a comment `/* model`, YAML, `*/`", "give it a header")
    first = text[: found.start("yaml")].count("\n") + 1
    try:
        said = yaml.safe_load(found["yaml"]) or {}
    except yaml.MarkedYAMLError as error:
        line = first + (error.problem_mark.line if error.problem_mark else 0)
        raise _wrong(path, line, f"its header is no YAML: {error.problem}", "mend the header") from error
    if not isinstance(said, dict):
        raise _wrong(path, first, "its header is no mapping of names to values", "write it as `name: value` lines")
    return header_of(path, {"name": path.stem, **said}, first=first, text=found["yaml"])


def header_of(path: Path, said: Mapping[str, Any], *, first: int = 1, text: str = "") -> Header:
    """The header that says this; what is wrong is told with its line in `text`, which begins at the line `first`."""
    try:
        return Header.model_validate(dict(said))
    except ValidationError as error:
        way, message = first_problem(error, Header)
        place = ".".join(map(str, way))
        line = first + _line_of(text, str(way[0]) if way else "")
        raise _wrong(path, line, f"its header is wrong: {place + ': ' if place else ''}{message}", "mend it") from error


def _line_of(header: str, name: str) -> int:
    lines = [number for number, line in enumerate(lines_of(header)) if name and line.startswith(f"{name}:")]
    return lines[0] if lines else 0


def _wrong(path: Path, line: int, seen: str, remedy: str) -> BadInputError:
    return BadInputError(
        subject=f"{path}:{line}", seen=seen, why="what the model promises would be guessed", remedy=remedy
    )
