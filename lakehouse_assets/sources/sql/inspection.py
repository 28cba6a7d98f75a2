"""The first step of an ingest: what source and lake say before anything is decided. Nothing is read yet."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from lakehouse_assets.contracts.column_names import name_problem
from lakehouse_assets.contracts.ingest import Ingest, SqlProject, ingest_contract
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import phase
from lakehouse_assets.core.effects import reached
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.hashing import json_fingerprint
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.ingest_plan import SourceFacts, null_column, relation
from lakehouse_assets.plan.marks import Mark, read_mark
from lakehouse_assets.plan.source_sql import TextShape, quoted, value_literal, with_values
from lakehouse_assets.sources.sql.database import SourceColumn, SourceDatabase, source_database

NO_PARTITION = ""
"""An ingested table is one partition: its source's windows decide what is read, not its rows."""
_ANY_ID = (1 << 63) - 1


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What source and lake say before anything is decided."""

    contract: TableContract
    select: Mapping[str, str]
    """An expression for each column."""
    facts: SourceFacts
    cursor: str
    """The ledger's; empty if there is none."""
    has_rows: bool

    @property
    def mark(self) -> Mark | None:
        return read_mark(self.cursor)


def inspect(lake: Lake, project: SqlProject, ingest: Ingest) -> Inspection:
    """Ask source and lake; nothing is read yet."""
    with phase("ingest", ingest.name, "inspect"), source_of(project, ingest) as source:
        state = source.state(ingest.clock)
        rows = with_values(relation(ingest), whole_literals(source, state.now), subject=f"ingest {ingest.name}")
        columns = source.columns(rows)
        _check_columns(ingest, columns)
        _check_types(ingest, columns)
        numbers = {each.name for each in columns if each.is_number}
        contract = ingest_contract(ingest, {each.name: each.type for each in columns}, numbers)
        has_rows = lake.exists(contract) and bool(lake.size(contract).files)
        held = tuple(table_facts(lake.open(contract), contract).columns) if has_rows else ()
        if has_rows and ingest.schema_policy == "discard":
            contract = _within(ingest, contract, held)
        _check_names(ingest, contract)
        read = contract.column_names
        asked = _asked(source, ingest, rows)
        shape = TextShape(asked["last"]) if source.kind == "sqlite" and ingest.timestamp and asked["last"] else None
        entry = Ledger(lake).latest([contract]).get((ingest.name, NO_PARTITION))
        facts = SourceFacts(
            kind=source.kind,
            now=state.now,
            columns=json_fingerprint([[each.name, each.native] for each in columns if each.name in read]),
            gone=tuple(name for name in held if name not in read),
            oldest_open=state.oldest_open,
            hidden_sessions=state.hidden_sessions,
            snapshot=state.snapshot,
            has_transaction_ids=ingest.incremental_query is None and source.has_transaction_ids(ingest.table),
            next_id=None if asked["last_id"] is None else int(asked["last_id"]) + 1,
            null_cursors=int(asked["nulls"] or 0),
            shape=shape,
            whole_days=any(each.name == ingest.timestamp and each.type == "date" for each in columns),
        )
    by_name = {each.name: each for each in columns}
    inspection = Inspection(
        contract=contract,
        select={each.name: source.expression(by_name[each.name], each.type) for each in contract.columns},
        facts=facts,
        cursor=entry.cursor if entry else "",
        has_rows=has_rows,
    )
    reached("ingest: after inspect")
    return inspection


def source_of(project: SqlProject, ingest: Ingest) -> AbstractContextManager[SourceDatabase]:
    return source_database(project.connections[ingest.connection], name=ingest.connection)


def whole_literals(source: SourceDatabase, now: datetime) -> dict[str, str]:
    """Values for a query that stands for all rows."""
    return {"until": value_literal(now, source.kind), "until_id": str(_ANY_ID)}


def _asked(source: SourceDatabase, ingest: Ingest, rows: str) -> Mapping[str, Any]:
    """The largest id, the largest timestamp as text, and how many rows have no cursor value."""
    needed = null_column(ingest)
    if needed is None:
        return {"last_id": None, "last": None, "nulls": 0}
    last_id = f"max({quoted(ingest.id)})" if ingest.id else "NULL"
    last = f"max({quoted(ingest.timestamp)})" if ingest.timestamp and source.kind == "sqlite" else "NULL"
    nulls = f"sum(CASE WHEN {quoted(needed)} IS NULL THEN 1 ELSE 0 END)"
    return source.answer(f"SELECT {last_id} AS last_id, {last} AS last, {nulls} AS nulls FROM {rows}")[0]


def _within(ingest: Ingest, contract: TableContract, held: tuple[str, ...]) -> TableContract:
    """Leave out the columns that came to the source after the table was made, unless the ingest names them."""
    wanted = {*held, *(each.name for each in ingest.columns)}
    return replace(contract, columns=tuple(each for each in contract.columns if each.name in wanted))


def _check_columns(ingest: Ingest, columns: tuple[SourceColumn, ...]) -> None:
    names = [each.name for each in columns]
    missing = [name for name in (*ingest.key, *ingest.cursors, *(c.name for c in ingest.columns)) if name not in names]
    if missing:
        raise BadInputError(
            subject=f"ingest {ingest.name}",
            seen=f"the source has no column {', '.join(dict.fromkeys(missing))}; it has {', '.join(names)}",
            why="rows could not be told apart or found again; nothing was read",
            remedy="name columns that the source has",
        )


def _check_types(ingest: Ingest, columns: tuple[SourceColumn, ...]) -> None:
    """Whether each column that the run goes by has a type to go by."""
    given = {each.name: each.type for each in ingest.columns if each.type}
    types = {each.name: (given.get(each.name, each.type), each.native or "without a type") for each in columns}

    def refuse(name: str, role: str, remedy: str) -> BadInputError:
        kind, native = types[name]
        return BadInputError(
            subject=f"ingest {ingest.name}",
            seen=f"{name}, {role}, is {native} at the source and {kind} in the lake",
            why="rows could not be compared by it; nothing was read",
            remedy=remedy,
        )

    named = "under `columns`, give it the type {kind} if its values are such: {{name: {name}, type: {kind}}}"
    if ingest.id and types[ingest.id][0] not in ("int", "bigint"):
        raise refuse(ingest.id, "the id", named.format(name=ingest.id, kind="bigint"))
    if ingest.timestamp and types[ingest.timestamp][0] not in ("timestamp", "date"):
        raise refuse(ingest.timestamp, "the timestamp", named.format(name=ingest.timestamp, kind="timestamp"))
    for name in ingest.key:
        if types[name][0] == "binary":
            raise refuse(name, "of the key", named.format(name=name, kind="string"))


def _check_names(ingest: Ingest, contract: TableContract) -> None:
    if problem := name_problem(contract.column_names):
        raise BadInputError(
            subject=f"ingest {ingest.name}",
            seen=problem,
            why="no table of the lake can have these columns; nothing was read",
            remedy="read a first_query that names them otherwise (SELECT … AS …), or leave some out by only_columns",
        )
