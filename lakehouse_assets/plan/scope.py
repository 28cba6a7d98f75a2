"""Which partitions a write covers, as conditions on columns, and as literal SQL predicates.

Invariant: a write touches no row outside its scopes. Predicates are literal, so that Delta prunes by
them and writers of different partitions don't conflict. Windows are half-open.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime

from lakehouse_assets.contracts.table import ColumnType, TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.plan.sql_text import Dialect, Value, column, in_list, literal


@dataclass(frozen=True, kw_only=True)
class Equals:
    column: str
    value: Value


@dataclass(frozen=True, kw_only=True)
class Window:
    """From `start` on, before `end`."""

    column: str
    start: datetime | date
    end: datetime | date


Condition = Equals | Window
Scope = tuple[Condition, ...]
"""One partition: all of its conditions hold."""

Scopes = tuple[Scope, ...]
"""The partitions of a write: one of them holds. None at all: the whole table, for one without partitions."""


def equal_scopes(column_name: str, values: Iterable[Value]) -> Scopes:
    return tuple((Equals(column=column_name, value=value),) for value in values)


def scope_predicate(scopes: Scopes, dialect: Dialect, *, of: str = "") -> str:
    """The scopes as SQL; `TRUE` for the whole table."""
    if not scopes:
        return "TRUE"
    same = one_column(scopes)
    if same is not None:
        name, values = same
        return in_list(column(name, dialect, of=of), values, dialect)
    parts = [" AND ".join(_condition(condition, dialect, of) for condition in scope) for scope in scopes]
    return parts[0] if len(parts) == 1 else "(" + " OR ".join(f"({part})" for part in parts) + ")"


def one_column(scopes: Scopes) -> tuple[str, list[Value]] | None:
    """The column and its values, if each scope is one value of the same column."""
    values: list[Value] = []
    names: set[str] = set()
    for scope in scopes:
        if len(scope) != 1 or not isinstance(scope[0], Equals):
            return None
        names.add(scope[0].column)
        values.append(scope[0].value)
    return (names.pop(), values) if len(names) == 1 else None


def check_scopes(contract: TableContract, scopes: Scopes) -> None:
    """Refuse scopes that leave a partition column open: a write could then reach other partitions."""
    for scope in scopes or ((),):
        named = [condition.column for condition in scope]
        missing = [name for name in contract.partition_by if name not in named]
        if missing:
            raise BadInputError(
                subject=f"write to {contract.name}",
                seen=f"the run's partition says nothing of {', '.join(missing)}",
                why="rows of other partitions would be replaced as well",
                remedy=f"give a value or window for each of {', '.join(contract.partition_by)}",
            )
        unknown = [name for name in named if name not in contract.partition_by]
        if unknown:
            raise BadInputError(
                subject=f"write to {contract.name}",
                seen=f"the run's partition names {', '.join(unknown)}, by which the table is not partitioned",
                why="the write could not be held to its partition",
                remedy=f"use its partition columns: {', '.join(contract.partition_by) or 'it has none'}",
            )
        for condition in scope:
            if not _fits(condition, contract.column(condition.column).type):
                raise BadInputError(
                    subject=f"write to {contract.name}",
                    seen=f"{condition} is no value or window of a {contract.column(condition.column).type}",
                    why="it would match no row, so that rows would be written again instead of replaced",
                    remedy="give the value in the column's type (moments with a time zone, texts that are not empty)",
                )


def _fits(condition: Condition, kind: ColumnType) -> bool:
    """Whether a condition can hold for a column of the type. Delta stores an empty text as NULL."""
    match condition:
        case Equals(value=value):
            return value != "" and _is_of(value, kind)
        case Window(start=start, end=end):
            return _is_of(start, kind) and _is_of(end, kind) and start < end


def _is_of(value: object, kind: ColumnType) -> bool:
    match value:
        case bool():
            return kind == "boolean"
        case int():
            return kind in ("int", "bigint")
        case datetime():
            return kind == "timestamp" and value.tzinfo is not None
        case date():
            return kind == "date"
        case _:
            return kind == "string" and isinstance(value, str)


def _condition(condition: Condition, dialect: Dialect, of: str) -> str:
    name = column(condition.column, dialect, of=of)
    match condition:
        case Equals():
            return f"{name} = {literal(condition.value, dialect)}"
        case Window():
            return f"{name} >= {literal(condition.start, dialect)} AND {name} < {literal(condition.end, dialect)}"
