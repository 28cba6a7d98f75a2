"""What every transform is: a typed line of YAML that turns one relation into the next, as one SELECT."""

import difflib
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from lakehouse_assets.models.transforms.expressions import checked_expression, checked_order, literal, quoted


class TransformError(ValueError):
    """What a step asks for cannot be had from the rows that reach it."""


@dataclass(frozen=True, kw_only=True)
class Relation:
    """A relation that SQL can name, and its columns in order."""

    name: str
    columns: tuple[str, ...]

    def has(self, *names: str) -> None:
        """Refuse a step that asks for a column that is not there, with the name that was likely meant."""
        for name in names:
            if name not in self.columns:
                near = difflib.get_close_matches(name, self.columns, n=1)
                meant = f"; did you mean {near[0]!r}?" if near else ""
                raise TransformError(f"there is no column {name!r} among {', '.join(self.columns)}{meant}")

    def lacks(self, *names: str) -> None:
        for name in names:
            if name in self.columns:
                raise TransformError(f"there is a column {name!r} already: drop it first, or choose another name")


@dataclass(frozen=True, kw_only=True)
class Query:
    """A SELECT and the columns it gives."""

    sql: str
    columns: tuple[str, ...]


Tables = Mapping[str, Sequence[str]]
"""The other relations that a step may name, with their columns."""


class Transform(BaseModel):
    """A step. Its fields are the YAML's; its first sentence is its documentation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    example: ClassVar[str]
    """The step as a line of YAML, for the documentation; a test compiles it."""

    @abstractmethod
    def query(self, rows: Relation, tables: Tables) -> Query:
        """The step over `rows`; raises TransformError if it asks for what is not there."""

    def relations(self) -> tuple[str, ...]:
        """The other relations that it reads."""
        return ()


Expression = Annotated[str, Field(description="An expression of Spark SQL.", min_length=1)]
Columns = Annotated[tuple[str, ...], Field(min_length=1)]


def select(rows: Relation, chosen: Mapping[str, str], rest: str = "") -> Query:
    """SELECT of expressions by name, in their order."""
    listed = ", ".join(f"{sql} AS {quoted(name)}" for name, sql in chosen.items())
    return Query(sql=f"SELECT {listed} FROM {quoted(rows.name)}{rest and ' ' + rest}", columns=tuple(chosen))


def all_of(rows: Relation) -> dict[str, str]:
    return {name: quoted(name) for name in rows.columns}


def with_columns(rows: Relation, made: Mapping[str, str], rest: str = "") -> Query:
    """All columns, those of `made` in their place or, if they are new, at the end."""
    return select(rows, {**all_of(rows), **made}, rest)


def expression(text: str) -> str:
    try:
        return f"({checked_expression(text)})"
    except ValueError as error:
        raise TransformError(str(error)) from None


def over(by: Iterable[str], order: Sequence[str], frame: str = "") -> str:
    """An OVER clause."""
    parts = []
    if listed := ", ".join(quoted(name) for name in by):
        parts.append(f"PARTITION BY {listed}")
    if order:
        parts.append(f"ORDER BY {ordering(order)}")
    return f"OVER ({' '.join([*parts, *([frame] if frame else [])])})"


def ordering(order: Sequence[str]) -> str:
    """`column`, `column desc`: NULL comes last either way, so that the first row is one that has a value."""
    return ", ".join(
        f"{quoted(name)} {'DESC' if descending else 'ASC'} NULLS LAST" for name, descending in map(checked_order, order)
    )


def ordered_columns(order: Sequence[str]) -> tuple[str, ...]:
    return tuple(checked_order(each)[0] for each in order)


def value(of: Any) -> str:
    return literal(of)
