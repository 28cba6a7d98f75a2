"""Transforms that look at the rows around a row."""

from typing import Literal

from pydantic import Field

from lakehouse_assets.models.transforms.base import (
    Columns,
    Expression,
    Query,
    Relation,
    Tables,
    Transform,
    expression,
    ordered_columns,
    over,
    with_columns,
)
from lakehouse_assets.models.transforms.expressions import quoted


class Window(Transform):
    """Makes columns by window functions over groups in an order."""

    do: Literal["window"]
    by: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    columns: dict[str, Expression] = Field(min_length=1)
    example = "{do: window, by: [ticker], order: [day], columns: {first_price: first_value(price)}}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.by, *ordered_columns(self.order))
        frame = over(self.by, self.order)
        # Without parentheses around it: OVER belongs to the call itself.
        return with_columns(rows, {name: f"{expression(text)[1:-1]} {frame}" for name, text in self.columns.items()})


class Rank(Transform):
    """Numbers the rows of each group; `rank` leaves gaps after equal rows, `dense_rank` does not."""

    do: Literal["rank"]
    by: tuple[str, ...] = ()
    order: Columns
    into: str = "rank"
    method: Literal["row_number", "rank", "dense_rank"] = "row_number"
    example = "{do: rank, by: [country], order: [sales desc], into: place, method: rank}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.by, *ordered_columns(self.order))
        return with_columns(rows, {self.into: f"{self.method.upper()}() {over(self.by, self.order)}"})


class Previous(Transform):
    """Brings the value of the row before, some rows before, or with a negative number after; NULL if there is none."""

    do: Literal["previous"]
    column: str
    by: tuple[str, ...] = ()
    order: Columns
    into: str
    rows: int = 1
    example = "{do: previous, column: price, by: [ticker], order: [day], into: price_before}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(self.column, *self.by, *ordered_columns(self.order))
        return with_columns(rows, {self.into: f"LAG({quoted(self.column)}, {self.rows}) {over(self.by, self.order)}"})


class Difference(Transform):
    """Tells how much a value is above that of the row before; NULL for the first."""

    do: Literal["difference"]
    column: str
    by: tuple[str, ...] = ()
    order: Columns
    into: str
    example = "{do: difference, column: meter, by: [house], order: [day], into: used}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(self.column, *self.by, *ordered_columns(self.order))
        held = quoted(self.column)
        return with_columns(rows, {self.into: f"{held} - LAG({held}) {over(self.by, self.order)}"})


class Running(Transform):
    """Measures a row and those before it: all of its group, or with `rows` the last ones."""

    do: Literal["running"]
    column: str
    measure: Literal["sum", "avg", "min", "max", "count"]
    by: tuple[str, ...] = ()
    order: Columns
    into: str
    rows: int | None = Field(default=None, ge=1, description="How many rows, this one included.")
    example = "{do: running, column: price, measure: avg, by: [ticker], order: [day], into: mean_7, rows: 7}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(self.column, *self.by, *ordered_columns(self.order))
        start = "UNBOUNDED" if self.rows is None else str(self.rows - 1)
        frame = over(self.by, self.order, f"ROWS BETWEEN {start} PRECEDING AND CURRENT ROW")
        return with_columns(rows, {self.into: f"{self.measure.upper()}({quoted(self.column)}) {frame}"})


class Share(Transform):
    """Tells which part of its group's sum a value is; NULL where the sum is nought."""

    do: Literal["share"]
    column: str
    by: tuple[str, ...] = ()
    into: str
    example = "{do: share, column: sales, by: [country], into: share_of_country}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(self.column, *self.by)
        held = quoted(self.column)
        return with_columns(rows, {self.into: f"{held} / NULLIF(SUM({held}) {over(self.by, ())}, 0)"})
