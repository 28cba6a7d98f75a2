"""Transforms over sets of rows: joined, put together, counted, turned."""

from typing import Any, Literal

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
    select,
    value,
)
from lakehouse_assets.models.transforms.expressions import quoted


def _other(name: str, tables: Tables) -> Relation:
    if name not in tables:
        raise TransformError(f"there is no table or model {name!r} to read")
    return Relation(name=name, columns=tuple(tables[name]))


class _With(Transform):
    """A step over another relation, matched by columns. (YAML would read a field called `on` as true.)"""

    table: str = Field(description="Another table or model.")
    match: Columns | dict[str, str] = Field(description="Columns of the same name, or other names by own names.")

    def relations(self) -> tuple[str, ...]:
        return (self.table,)

    def matched(self, rows: Relation, tables: Tables) -> tuple[Relation, str]:
        """The other relation, and the condition between `own` and `other`."""
        other = _other(self.table, tables)
        pairs = self.match if isinstance(self.match, dict) else {name: name for name in self.match}
        rows.has(*pairs)
        other.has(*pairs.values())
        return other, " AND ".join(f"own.{quoted(mine)} = other.{quoted(its)}" for mine, its in pairs.items())


class Join(_With):
    """Brings columns of another table to the rows that match."""

    do: Literal["join"]
    how: Literal["inner", "left"] = "inner"
    columns: Columns | dict[str, str] = Field(description="Columns to bring, or new names by their names there.")
    example = "{do: join, table: rates, match: {currency: code}, how: left, columns: [rate]}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        other, condition = self.matched(rows, tables)
        brought = self.columns if isinstance(self.columns, dict) else {name: name for name in self.columns}
        other.has(*brought)
        rows.lacks(*brought.values())
        listed = [
            *(f"own.{quoted(name)}" for name in rows.columns),
            *(f"other.{quoted(there)} AS {quoted(here)}" for there, here in brought.items()),
        ]
        join = f"{self.how.upper()} JOIN {quoted(other.name)} AS other ON {condition}"
        sql = f"SELECT {', '.join(listed)} FROM {quoted(rows.name)} AS own {join}"
        return Query(sql=sql, columns=(*rows.columns, *brought.values()))


class Exists(_With):
    """Keeps the rows that have a match in another table."""

    do: Literal["exists"]
    example = "{do: exists, table: customers, match: [customer]}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        return _semi(self, rows, tables, "SEMI")


class NotExists(_With):
    """Keeps the rows that have no match in another table."""

    do: Literal["not_exists"]
    example = "{do: not_exists, table: blocked, match: [customer]}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        return _semi(self, rows, tables, "ANTI")


def _semi(step: _With, rows: Relation, tables: Tables, kind: str) -> Query:
    other, condition = step.matched(rows, tables)
    listed = ", ".join(f"own.{sql}" for sql in all_of(rows).values())
    join = f"LEFT {kind} JOIN {quoted(other.name)} AS other ON {condition}"
    return Query(sql=f"SELECT {listed} FROM {quoted(rows.name)} AS own {join}", columns=rows.columns)


class Union(Transform):
    """Adds the rows of other tables, by the names of columns; a column that one of them lacks is NULL there."""

    do: Literal["union"]
    tables: Columns = Field(description="Other tables or models.")
    example = "{do: union, tables: [orders_archive]}"

    def relations(self) -> tuple[str, ...]:
        return self.tables

    def query(self, rows: Relation, tables: Tables) -> Query:
        parts = [f"SELECT {', '.join(all_of(rows).values())} FROM {quoted(rows.name)}"]
        for name in self.tables:
            other = _other(name, tables)
            chosen = {each: quoted(each) if each in other.columns else "NULL" for each in rows.columns}
            parts.append(select(other, chosen).sql)
        return Query(sql=" UNION ALL ".join(parts), columns=rows.columns)


class Aggregate(Transform):
    """Makes one row of each group, by measures."""

    do: Literal["aggregate"]
    by: tuple[str, ...] = ()
    measures: dict[str, Expression] = Field(min_length=1)
    example = "{do: aggregate, by: [country], measures: {sales: sum(amount), orders: count(*)}}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.by)
        made = {
            **{name: quoted(name) for name in self.by},
            **{name: expression(measure) for name, measure in self.measures.items()},
        }
        return select(rows, made, f"GROUP BY {', '.join(map(quoted, self.by))}" if self.by else "")


class Pivot(Transform):
    """Turns the values of a column into columns, one row for each group."""

    do: Literal["pivot"]
    by: Columns
    column: str
    values: dict[str, Any] | tuple[Any, ...] = Field(description="Values, or values by the names of their columns.")
    measure: Expression = Field(description="An aggregate over the rows of the value, such as sum(amount).")
    example = "{do: pivot, by: [product], column: quarter, values: [q1, q2], measure: sum(amount)}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.by, self.column)
        named = self.values if isinstance(self.values, dict) else {str(each): each for each in self.values}
        # Without parentheses around it: FILTER belongs to the call itself.
        measure = expression(self.measure)[1:-1]
        made = {
            **{name: quoted(name) for name in self.by},
            **{name: f"{measure} FILTER (WHERE {quoted(self.column)} = {value(held)})" for name, held in named.items()},
        }
        return select(rows, made, f"GROUP BY {', '.join(map(quoted, self.by))}")


class Unpivot(Transform):
    """Turns columns into rows: one for each, with its name and its value; NULL is left out."""

    do: Literal["unpivot"]
    columns: Columns
    name_into: str = "name"
    value_into: str = "value"
    example = "{do: unpivot, columns: [q1, q2], name_into: quarter, value_into: amount}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.columns)
        kept = tuple(name for name in rows.columns if name not in self.columns)
        parts = [
            select(
                rows,
                {
                    **{each: quoted(each) for each in kept},
                    self.name_into: value(name),
                    self.value_into: quoted(name),
                },
                f"WHERE {quoted(name)} IS NOT NULL",
            ).sql
            for name in self.columns
        ]
        return Query(sql=" UNION ALL ".join(parts), columns=(*kept, self.name_into, self.value_into))
