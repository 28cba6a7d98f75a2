"""Transforms of rows: which of them stay, and what is wrong with them."""

from typing import Literal

from pydantic import Field

from lakehouse_assets.models.transforms.base import (
    Columns,
    Expression,
    Query,
    Relation,
    Tables,
    Transform,
    TransformError,
    all_of,
    expression,
    ordered_columns,
    over,
    select,
    value,
    with_columns,
)
from lakehouse_assets.models.transforms.expressions import quoted


class Filter(Transform):
    """Keeps the rows for which the condition holds; NULL is not true."""

    do: Literal["filter"]
    where: Expression
    example = "{do: filter, where: price > 0}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        return select(rows, all_of(rows), f"WHERE {expression(self.where)}")


class Distinct(Transform):
    """Keeps one of each group of equal rows."""

    do: Literal["distinct"]
    example = "{do: distinct}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        listed = ", ".join(all_of(rows).values())
        return Query(sql=f"SELECT DISTINCT {listed} FROM {quoted(rows.name)}", columns=rows.columns)


class Deduplicate(Transform):
    """Keeps the first row of each key, in the order that is given."""

    do: Literal["deduplicate"]
    key: Columns
    order: Columns = Field(description="`column` or `column desc`; it has to tell the rows of a key apart.")
    example = "{do: deduplicate, key: [id], order: [changed_at desc]}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        return _first_of(rows, 1, self.key, self.order)


class Top(Transform):
    """Keeps the first rows of each group, in the order that is given."""

    do: Literal["top"]
    rows: int = Field(ge=1)
    by: tuple[str, ...] = ()
    order: Columns
    example = "{do: top, rows: 3, by: [country], order: [sales desc]}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        return _first_of(rows, self.rows, self.by, self.order)


class Sample(Transform):
    """Keeps a share of the keys, always the same ones: by a hash of the key."""

    do: Literal["sample"]
    key: Columns
    percent: float = Field(gt=0, le=100)
    example = "{do: sample, key: [customer], percent: 5}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.key)
        place = f"PMOD(XXHASH64({', '.join(map(quoted, self.key))}), 10000)"
        return select(rows, all_of(rows), f"WHERE {place} < {value(round(self.percent * 100))}")


class Explode(Transform):
    """Makes a row of each element of an array."""

    do: Literal["explode"]
    column: str
    into: str
    keep_empty: bool = Field(default=False, description="Whether a row without elements stays, with NULL.")
    example = "{do: explode, column: tags, into: tag}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(self.column)
        function = "EXPLODE_OUTER" if self.keep_empty else "EXPLODE"
        kept = {name: sql for name, sql in all_of(rows).items() if name not in (self.column, self.into)}
        return select(rows, {**kept, self.into: f"{function}({quoted(self.column)})"})


class Flag(Transform):
    """Lists, row by row, the rules that it breaks; a rule whose condition is NULL is broken."""

    do: Literal["flag"]
    rules: dict[str, Expression] = Field(description="Conditions that hold for good rows, by name.", min_length=1)
    into: str = "broken_rules"
    example = "{do: flag, rules: {has_price: price > 0}, into: broken_rules}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        broken = [
            f"CASE WHEN NOT COALESCE({expression(condition)}, FALSE) THEN {value(name)} END"
            for name, condition in self.rules.items()
        ]
        return with_columns(rows, {self.into: f"ARRAY_COMPACT(ARRAY({', '.join(broken)}))"})


class Validate(Transform):
    """Checks rules: a row that breaks one fails the run, or is left out."""

    do: Literal["validate"]
    rules: dict[str, Expression] = Field(description="Conditions that hold for good rows, by name.", min_length=1)
    on_failure: Literal["fail", "drop"] = "fail"
    example = "{do: validate, rules: {has_price: price > 0}, on_failure: drop}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        checks = []
        for name, condition in self.rules.items():
            held = f"COALESCE({expression(condition)}, FALSE)"
            message = value(f"a row breaks the rule {name}: {condition}")
            checks.append(held if self.on_failure == "drop" else f"({held} OR RAISE_ERROR({message}) IS NOT NULL)")
        return select(rows, all_of(rows), f"WHERE {' AND '.join(checks)}")


def _first_of(rows: Relation, count: int, by: tuple[str, ...], order: tuple[str, ...]) -> Query:
    rows.has(*by, *ordered_columns(order))
    place = "_place"
    if place in rows.columns:
        raise TransformError(f"a column is called {place!r}, which this step needs for itself")
    listed = ", ".join(all_of(rows).values())
    numbered = f"SELECT {listed}, ROW_NUMBER() {over(by, order)} AS {place} FROM {quoted(rows.name)}"
    return Query(sql=f"SELECT {listed} FROM ({numbered}) WHERE {place} <= {count}", columns=rows.columns)
