"""Transforms of text: tidied, taken apart, parsed."""

import re
from typing import Literal

from pydantic import Field, field_validator

from lakehouse_assets.contracts.table import ColumnType
from lakehouse_assets.models.transforms.base import (
    Columns,
    Query,
    Relation,
    Tables,
    Transform,
    TransformError,
    value,
    with_columns,
)
from lakehouse_assets.models.transforms.expressions import quoted

_TIDY = {
    "trim": "TRIM({0})",
    "space": "TRIM(REGEXP_REPLACE({0}, '\\\\s+', ' '))",
    "lower": "LOWER({0})",
    "upper": "UPPER({0})",
    "title": "INITCAP({0})",
    "empty_to_null": "NULLIF({0}, '')",
}


class Normalize(Transform):
    """Tidies text, one way after the other: trim, runs of space to one, case, empty text to NULL."""

    do: Literal["normalize"]
    columns: Columns
    ways: tuple[Literal["trim", "space", "lower", "upper", "title", "empty_to_null"], ...] = ("trim",)
    example = "{do: normalize, columns: [email], ways: [trim, lower, empty_to_null]}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.columns)
        made = {}
        for name in self.columns:
            sql = quoted(name)
            for way in self.ways:
                sql = _TIDY[way].format(sql)
            made[name] = sql
        return with_columns(rows, made)


class Extract(Transform):
    """Takes the groups of a pattern out of a text, a column each; NULL where it does not match."""

    do: Literal["extract"]
    column: str
    pattern: str = Field(description="A regular expression with a named group for each column, (?P<name>…).")
    example = "{do: extract, column: line, pattern: '(?P<level>[A-Z]+) (?P<message>.*)'}"

    @field_validator("pattern")
    @classmethod
    def _named(cls, pattern: str) -> str:
        try:
            found = re.compile(pattern)
        except re.error as error:
            raise ValueError(f"{pattern!r} is no regular expression: {error}") from None
        if len(found.groupindex) != found.groups or not found.groups:
            raise ValueError(f"{pattern!r}: every group has to be named, (?P<name>…), or not be one, (?:…)")
        return pattern

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(self.column)
        plain = value(re.sub(r"\(\?P<\w+>", "(", self.pattern))
        held = quoted(self.column)
        return with_columns(
            rows,
            {
                name: f"CASE WHEN REGEXP_LIKE({held}, {plain}) THEN REGEXP_EXTRACT({held}, {plain}, {group}) END"
                for name, group in re.compile(self.pattern).groupindex.items()
            },
        )


class Split(Transform):
    """Takes a text apart at a separator: into named columns, or with one name into an array."""

    do: Literal["split"]
    column: str
    separator: str = Field(min_length=1)
    into: Columns
    example = "{do: split, column: place, separator: '/', into: [country, city]}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(self.column)
        parts = f"SPLIT({quoted(self.column)}, {value(re.escape(self.separator))})"
        if len(self.into) == 1:
            return with_columns(rows, {self.into[0]: parts})
        return with_columns(rows, {name: f"GET({parts}, {place})" for place, name in enumerate(self.into)})


class ParseJson(Transform):
    """Takes fields out of JSON text by their paths, however deep; NULL where there is none."""

    do: Literal["parse_json"]
    column: str
    fields: dict[str, str] = Field(description="Paths ($.a.b[0]) by the names of new columns.", min_length=1)
    types: dict[str, ColumnType] = Field(default_factory=dict, description="Types of those that are not text.")
    example = "{do: parse_json, column: body, fields: {goals: '$.score.home'}, types: {goals: int}}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(self.column)
        if unknown := sorted(self.types.keys() - self.fields.keys()):
            raise TransformError(f"{unknown[0]!r} has a type, but is not among the fields")
        made = {}
        for name, path in self.fields.items():
            text = f"GET_JSON_OBJECT({quoted(self.column)}, {value(path)})"
            match self.types.get(name, "string"):
                case "string":
                    made[name] = text
                case "array<string>":
                    made[name] = f"FROM_JSON({text}, 'array<string>')"
                case kind:
                    made[name] = f"CAST({text} AS {kind})"
        return with_columns(rows, made)
