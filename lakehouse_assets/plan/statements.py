"""A write as SQL: what Spark runs, and what a plan in print says of any executor's work."""

from collections.abc import Iterable
from typing import Literal

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.plan.scope import scope_predicate
from lakehouse_assets.plan.sql_text import Dialect, column, delta_name, in_list, literal, null_safe_equal
from lakehouse_assets.plan.write_facts import WriteRequest, deletes_missing

BATCH_SLOT = "USING {batch} AS s"
"""Where a MERGE gets its batch. The whole phrase is replaced once: an owner may well be called {batch}."""

Action = Literal["nothing", "append", "replace", "merge", "delete"]
"""`append` and `replace` don't read the table: a first load, or partitions that are replaced as a whole."""


def target_predicate(contract: TableContract, request: WriteRequest, dialect: Dialect, *, of: str = "") -> str:
    """The rows that the write may change: its partitions, and in them its owners. Bounds help Delta skip files."""
    parts = [scope_predicate(request.scopes, dialect, of=of)]
    if request.owners and contract.owner:
        owner = column(contract.owner, dialect, of=of)
        parts.append(in_list(owner, sorted(request.owners), dialect))
    return " AND ".join(part for part in parts if part != "TRUE") or "TRUE"


def covering_predicate(
    contract: TableContract, request: WriteRequest, ranges: Iterable[tuple[str, str]], dialect: Dialect, *, of: str = ""
) -> str:
    """As `target_predicate`, but with ranges of owners: rows of other owners may be among them."""
    scope = scope_predicate(request.scopes, dialect, of=of)
    if contract.owner is None or not request.owners:
        return scope
    owner = column(contract.owner, dialect, of=of)
    within = (f"{owner} BETWEEN {literal(low, dialect)} AND {literal(high, dialect)}" for low, high in ranges)
    return f"{scope} AND ({' OR '.join(within)})"


def statement(
    contract: TableContract,
    request: WriteRequest,
    action: Action,
    columns: tuple[str, ...],
    path: str,
    predicate: str,
) -> str:
    """The plan's work as Spark SQL; the batch is the view that takes the place of {batch}."""
    table = delta_name(path)
    listed = ", ".join(column(name, "spark") for name in (*columns, *_audit_names(contract)))
    match action:
        case "nothing":
            return "-- nothing to do"
        case "append":
            return f"INSERT INTO {table} ({listed}) SELECT {listed} FROM {{batch}}"
        case "replace":
            where = scope_predicate(request.scopes, "spark")
            return f"INSERT INTO {table} REPLACE WHERE {where} SELECT {listed} FROM {{batch}}"
        case "merge" | "delete":
            return "\n".join(_merge(contract, request, action, columns, table, predicate))


def _merge(
    contract: TableContract, request: WriteRequest, action: Action, columns: tuple[str, ...], table: str, predicate: str
) -> list[str]:
    key = " AND ".join(f"{column(name, 'spark', of='t')} = {column(name, 'spark', of='s')}" for name in contract.key)
    lines = [f"MERGE INTO {table} AS t {BATCH_SLOT}", f"ON {predicate} AND {key}"]
    if action == "delete":
        return [*lines, "WHEN MATCHED THEN DELETE"]
    if request.strategy == "upsert":
        values = [name for name in columns if name not in contract.key]
        same = " AND ".join(
            null_safe_equal(column(name, "spark", of="t"), column(name, "spark", of="s"), "spark") for name in values
        )
        setting = [*values, *_audit_names(contract)]
        updates = ", ".join(f"{column(name, 'spark')} = {column(name, 'spark', of='s')}" for name in setting)
        if values:
            lines.append(f"WHEN MATCHED AND NOT ({same}) THEN UPDATE SET {updates}")
    inserted = [*columns, *_audit_names(contract)]
    names = ", ".join(column(name, "spark") for name in inserted)
    sources = ", ".join(column(name, "spark", of="s") for name in inserted)
    lines.append(f"WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({sources})")
    if deletes_missing(request):
        # The predicate again: in ON alone it would not hold the clause back from the other partitions.
        lines.append(f"WHEN NOT MATCHED BY SOURCE AND {predicate} THEN DELETE")
    return lines


def _audit_names(contract: TableContract) -> list[str]:
    return [each.name for each in contract.stored_columns if each not in contract.columns]
