"""Transforms of columns: which there are, what they are called, what they hold."""

from typing import Any, Literal

from pydantic import Field

from lakehouse_assets.contracts.table import ColumnType
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


class Select(Transform):
    """Keeps the columns that are named, in that order."""

    do: Literal["select"]
    columns: Columns
    example = "{do: select, columns: [id, name]}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.columns)
        return select(rows, {name: quoted(name) for name in self.columns})


class Drop(Transform):
    """Leaves the columns out that are named."""

    do: Literal["drop"]
    columns: Columns
    example = "{do: drop, columns: [note]}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.columns)
        left = {name: sql for name, sql in all_of(rows).items() if name not in self.columns}
        if not left:
            raise TransformError("no column would be left")
        return select(rows, left)


class Rename(Transform):
    """Gives columns other names, in their places."""

    do: Literal["rename"]
    columns: dict[str, str] = Field(description="New names by old names.", min_length=1)
    example = "{do: rename, columns: {nm: name}}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.columns)
        names = [self.columns.get(name, name) for name in rows.columns]
        if doubled := sorted({name for name in names if names.count(name) > 1}):
            raise TransformError(f"two columns would be called {doubled[0]!r}")
        return select(rows, {new: quoted(old) for new, old in zip(names, rows.columns, strict=True)})


class Cast(Transform):
    """Turns columns into other types; a value that does not fit fails the run, or becomes NULL."""

    do: Literal["cast"]
    columns: dict[str, ColumnType] = Field(min_length=1)
    on_error: Literal["fail", "null"] = "fail"
    example = "{do: cast, columns: {price: double}, on_error: 'null'}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.columns)
        function = "CAST" if self.on_error == "fail" else "TRY_CAST"
        return with_columns(
            rows, {name: f"{function}({quoted(name)} AS {kind})" for name, kind in self.columns.items()}
        )


class Derive(Transform):
    """Makes columns by expressions; one that is there is replaced. Expressions see the columns as they were."""

    do: Literal["derive"]
    columns: dict[str, Expression] = Field(min_length=1)
    example = "{do: derive, columns: {total: price * quantity}}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        return with_columns(rows, {name: expression(text) for name, text in self.columns.items()})


class Coalesce(Transform):
    """Takes the first value that is not NULL out of several columns."""

    do: Literal["coalesce"]
    columns: Columns
    into: str
    example = "{do: coalesce, columns: [mobile, phone], into: number}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.columns)
        return with_columns(rows, {self.into: f"COALESCE({', '.join(map(quoted, self.columns))})"})


class Concat(Transform):
    """Joins columns to one text; NULL is left out, separator and all."""

    do: Literal["concat"]
    columns: Columns
    into: str
    separator: str = ""
    example = "{do: concat, columns: [first, last], into: name, separator: ' '}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.columns)
        return with_columns(
            rows, {self.into: f"CONCAT_WS({value(self.separator)}, {', '.join(map(quoted, self.columns))})"}
        )


class Replace(Transform):
    """Puts other values in the place of those that are named; what is not named stays, or becomes `otherwise`."""

    do: Literal["replace"]
    column: str
    values: dict[str, Any] = Field(min_length=1)
    otherwise: Literal["keep", "null"] = "keep"
    example = "{do: replace, column: state, values: {A: active, X: closed}}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(self.column)
        held = quoted(self.column)
        cases = " ".join(f"WHEN {value(old)} THEN {value(new)}" for old, new in self.values.items())
        rest = f"ELSE {held} END" if self.otherwise == "keep" else "END"
        return with_columns(rows, {self.column: f"CASE CAST({held} AS STRING) {cases} {rest}"})


class Fill(Transform):
    """Puts a value in the place of NULL."""

    do: Literal["fill"]
    columns: dict[str, Any] = Field(description="Values by columns.", min_length=1)
    example = "{do: fill, columns: {quantity: 0}}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.columns)
        return with_columns(
            rows, {name: f"COALESCE({quoted(name)}, {value(held)})" for name, held in self.columns.items()}
        )


class FillForward(Transform):
    """Puts the last value before it in the place of NULL."""

    do: Literal["fill_forward"]
    columns: Columns
    by: tuple[str, ...] = ()
    order: Columns
    example = "{do: fill_forward, columns: [temperature], by: [sensor], order: [at]}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.columns, *self.by, *ordered_columns(self.order))
        frame = over(self.by, self.order, "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW")
        return with_columns(rows, {name: f"LAST_VALUE({quoted(name)}) IGNORE NULLS {frame}" for name in self.columns})


class Bucket(Transform):
    """Tells between which of the given edges a number lies: the label is the lower edge, NULL is below the first."""

    do: Literal["bucket"]
    column: str
    edges: tuple[float, ...] = Field(min_length=1)
    into: str
    example = "{do: bucket, column: age, edges: [0, 18, 65], into: age_from}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(self.column)
        if list(self.edges) != sorted(set(self.edges)):
            raise TransformError("the edges have to grow")
        cases = " ".join(f"WHEN {quoted(self.column)} >= {value(edge)} THEN {value(edge)}" for edge in self.edges[::-1])
        return with_columns(rows, {self.into: f"CAST(CASE {cases} END AS DOUBLE)"})
