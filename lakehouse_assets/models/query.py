"""A model's query made ready to run: over the relations that an engine knows, for some partitions or days only."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify

from lakehouse_assets.models.intervals import Span
from lakehouse_assets.models.model import DIALECT
from lakehouse_assets.models.portable import why_not
from lakehouse_assets.plan.canonical_sql import SqlDialect
from lakehouse_assets.plan.sql_text import Value, in_list, literal, name


def runnable(
    sql: str,
    relations: Mapping[str, str],
    *,
    dialect: SqlDialect,
    only: Mapping[str, Sequence[Value]] | None = None,
    of: Collection[str] = (),
) -> str:
    """The query in an engine's dialect, each table under the name that the engine has for it.

    `only` has values by column: of the tables in `of`, no other rows are read.
    """
    tree = sqlglot.parse_one(sql, dialect=DIALECT)
    own = {part.alias for part in tree.find_all(exp.CTE)}
    for table in list(tree.find_all(exp.Table)):
        if table.name in own or table.name not in relations:
            continue
        alias = exp.to_identifier(table.alias_or_name, quoted=True)
        there = exp.to_table(relations[table.name], dialect=DIALECT)
        if only and table.name in of:
            chosen = " AND ".join(in_list(name(column, "spark"), values, "spark") for column, values in only.items())
            inner = exp.select("*").from_(there).where(sqlglot.condition(chosen, dialect=DIALECT))
            there = inner.subquery(alias)
        else:
            there = exp.alias_(there, alias, table=True)
        there.set("joins", [each.pop() for each in table.args.get("joins") or ()])  # of a join in parentheses
        table.replace(there)
    return tree.sql(dialect)


def within(sql: str, column: str, spans: Sequence[Span], dialect: SqlDialect) -> str:
    """The rows of a query whose day is in one of the spans."""
    day = name(column, dialect)

    def said(moment: date) -> str:
        return literal(moment, dialect)

    parts = [f"({day} >= {said(span.start)} AND {day} < {said(span.end)})" for span in spans]
    return f"SELECT * FROM ({sql}) AS made WHERE {' OR '.join(parts)}"


def needs_spark(sql: str, types: Mapping[str, Mapping[str, str]]) -> str | None:
    """What in a query DuckDB might answer differently, given the types of the inputs' columns; None if nothing."""
    tree = sqlglot.parse_one(sql, dialect=DIALECT)
    schema: dict[str, object] = {table: dict(columns) for table, columns in types.items()}
    full = qualify(
        tree, schema=schema, dialect=DIALECT, validate_qualify_columns=False, allow_partial_qualification=True
    )
    return why_not(annotate_types(full, schema=schema, dialect=DIALECT))
