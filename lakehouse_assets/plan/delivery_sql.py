"""The statements by which a target table becomes equal to the lake's: pure text, the same for both databases.

Invariant: only rows that differ are written, told apart NULL-safely; the cursor is one of the transaction's own
statements, so that it moves with the rows or not at all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lakehouse_assets.contracts.table import Column, ColumnType, TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.plan.source_sql import quoted, quoted_table, text_literal

TargetKind = Literal["postgresql", "sqlite"]

CURSORS = "lakehouse_deliveries"
OPERATION = "lakehouse_operation"
"""In a staging table: whether the row is there now, or gone."""
UPSERT, DELETE = "upsert", "delete"

_TYPES: dict[TargetKind, dict[ColumnType, str]] = {
    "postgresql": {
        "string": "text",
        "int": "integer",
        "bigint": "bigint",
        "double": "double precision",
        "boolean": "boolean",
        "date": "date",
        "timestamp": "timestamp with time zone",
        "array<string>": "text[]",
        "binary": "bytea",
    },
    "sqlite": {
        "string": "TEXT",
        "int": "INTEGER",
        "bigint": "INTEGER",
        "double": "REAL",
        "boolean": "INTEGER",
        "date": "TEXT",
        "timestamp": "TEXT",
        "array<string>": "TEXT",
        "binary": "BLOB",
    },
}
_ALSO: dict[TargetKind, dict[ColumnType, tuple[str, ...]]] = {
    "postgresql": {"string": ("character varying",), "int": ("bigint",)},
    "sqlite": {
        "boolean": ("BOOLEAN",),
        "date": ("DATE",),
        "timestamp": ("TIMESTAMP", "DATETIME"),
        "string": ("VARCHAR",),
        "bigint": ("BIGINT",),
    },
}
"""Types of a table that was there before which hold the same values."""


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One step of a transaction; `counts` names what its number of rows is."""

    sql: str
    counts: Literal["inserted", "updated", "deleted", ""] = ""


def staging_prefix(delivery: str) -> str:
    return f"lakehouse_staging_{fingerprint([delivery])[:8]}_"


def sibling(table: str, name: str) -> str:
    """A table of that name in the schema of another."""
    schema, dot, _ = table.rpartition(".")
    return f"{schema}{dot}{name}"


def new_columns(
    contract: TableContract, present: dict[str, str], kind: TargetKind, *, evolve: bool, delivery: str
) -> tuple[Column, ...]:
    """Columns that the target has to get; refuses what cannot be made to fit."""
    wrong = [
        f"{each.name} is {present[each.name]} instead of {_TYPES[kind][each.type]}"
        for each in contract.columns
        if each.name in present and present[each.name] not in (_TYPES[kind][each.type], *_ALSO[kind].get(each.type, ()))
    ]
    lacking = tuple(each for each in contract.columns if each.name not in present)
    if lacking and not evolve:
        wrong.append(f"it lacks {', '.join(each.name for each in lacking)}")
    keys = [each.name for each in lacking if each.name in contract.key]
    if keys:
        wrong.append(f"it lacks {', '.join(keys)} of the key")
    if wrong:
        raise BadInputError(
            subject=f"delivery of {delivery}",
            seen=f"the target table does not fit: {'; '.join(wrong)}",
            why="rows would be cut short or lost there; nothing was written",
            remedy="change the table, or for columns that it lacks set schema_policy to evolve",
        )
    return lacking


def create_staging(
    table: str, contract: TableContract, kind: TargetKind, *, with_operation: bool, becomes_target: bool
) -> str:
    columns = [f"{quoted(each.name)} {_TYPES[kind][each.type]}" for each in contract.columns]
    if with_operation:
        columns.append(f"{OPERATION} {_TYPES[kind]['string']} NOT NULL")
    if kind == "sqlite":  # it cannot be added later, and SQLite joins by index or not at all
        columns.append(f"PRIMARY KEY ({_listed(contract.key)})")
    unlogged = "UNLOGGED " if kind == "postgresql" and not becomes_target else ""
    return f"CREATE {unlogged}TABLE {quoted_table(table)} ({', '.join(columns)})"


def create_cursors(kind: TargetKind) -> str:
    text = _TYPES[kind]["string"]
    return (
        f"CREATE TABLE IF NOT EXISTS {CURSORS} (delivery {text} PRIMARY KEY, position {text} NOT NULL, "
        f"reconciled {_TYPES[kind]['boolean']} NOT NULL, run_id {text} NOT NULL)"
    )


def adopt_statements(contract: TableContract, staging: str, target: str, kind: TargetKind) -> list[Statement]:
    """The staging table becomes the target, which was not there before."""
    _, _, name = target.rpartition(".")
    made = [Statement(sql=f"ALTER TABLE {quoted_table(staging)} RENAME TO {quoted(name)}")]
    if kind == "postgresql":
        made.append(Statement(sql=f"ALTER TABLE {quoted_table(target)} ADD PRIMARY KEY ({_listed(contract.key)})"))
    return made


def merge_statements(
    contract: TableContract,
    staging: str,
    target: str,
    kind: TargetKind,
    *,
    complete: bool,
    added: Sequence[Column],
) -> list[Statement]:
    """`complete`: the staging table has all rows, and what it lacks is gone; else it tells each row's operation."""
    t, s = quoted_table(target), quoted_table(staging)
    names = [each.name for each in contract.columns]
    values = [name for name in names if name not in contract.key]
    same_key = " AND ".join(f"t.{quoted(name)} = s.{quoted(name)}" for name in contract.key)
    kept = "" if complete else f"s.{OPERATION} = {text_literal(UPSERT)} AND "
    differs = "IS DISTINCT FROM" if kind == "postgresql" else "IS NOT"
    changed = " OR ".join(f"t.{quoted(name)} {differs} s.{quoted(name)}" for name in values)
    steps = [
        Statement(sql=f"ALTER TABLE {t} ADD COLUMN {quoted(each.name)} {_TYPES[kind][each.type]}") for each in added
    ]
    if kind == "postgresql":
        steps.append(Statement(sql=f"LOCK TABLE {t} IN SHARE ROW EXCLUSIVE MODE"))
    gone = (
        f"NOT EXISTS (SELECT 1 FROM {s} AS s WHERE {same_key})"
        if complete
        else f"EXISTS (SELECT 1 FROM {s} AS s WHERE s.{OPERATION} = {text_literal(DELETE)} AND {same_key})"
    )
    steps.append(Statement(sql=f"DELETE FROM {t} AS t WHERE {gone}", counts="deleted"))
    if values:
        setting = ", ".join(f"{quoted(name)} = s.{quoted(name)}" for name in values)
        update = f"UPDATE {t} AS t SET {setting} FROM {s} AS s WHERE {kept}{same_key} AND ({changed})"
        steps.append(Statement(sql=update, counts="updated"))
    absent = f"NOT EXISTS (SELECT 1 FROM {t} AS t WHERE {same_key})"
    listed = ", ".join(f"s.{quoted(name)}" for name in names)
    insert = f"INSERT INTO {t} ({_listed(names)}) SELECT {listed} FROM {s} AS s WHERE {kept}{absent}"
    return [*steps, Statement(sql=insert, counts="inserted")]


def cursor_statement(delivery: str, position: str, run_id: str, kind: TargetKind) -> Statement:
    false = "FALSE" if kind == "postgresql" else "0"
    values = f"{text_literal(delivery)}, {text_literal(position)}, {false}, {text_literal(run_id)}"
    return Statement(
        sql=f"INSERT INTO {CURSORS} (delivery, position, reconciled, run_id) VALUES ({values}) ON CONFLICT (delivery) "
        "DO UPDATE SET position = excluded.position, reconciled = excluded.reconciled, run_id = excluded.run_id"
    )


def reconciled_statement(delivery: str, position: str, kind: TargetKind) -> Statement:
    true = "TRUE" if kind == "postgresql" else "1"
    where = f"delivery = {text_literal(delivery)} AND position = {text_literal(position)}"
    return Statement(sql=f"UPDATE {CURSORS} SET reconciled = {true} WHERE {where}")


def rows_query(contract: TableContract, target: str, staging: str | None) -> str:
    """The target's rows: all, or those of the keys that the staging table has."""
    listed = ", ".join(f"t.{quoted(each.name)}" for each in contract.columns)
    rows = f"SELECT {listed} FROM {quoted_table(target)} AS t"
    if staging is None:
        return rows
    same_key = " AND ".join(f"t.{quoted(name)} = s.{quoted(name)}" for name in contract.key)
    return f"{rows} WHERE EXISTS (SELECT 1 FROM {quoted_table(staging)} AS s WHERE {same_key})"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(quoted(name) for name in names)
