"""Audits: queries that must return no rows, written out or by the usual names."""

import re
from typing import Annotated, Any, Literal, Self

import sqlglot
from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator
from sqlglot import exp
from sqlglot.errors import SqlglotError

from lakehouse_assets.plan.sql_text import literal, name

THIS = "this"
"""How an audit's own SQL names the table that it is asked of."""

AuditName = Literal["not_null", "unique", "accepted_values", "at_least", "at_most", "not_empty", "relationships", "sql"]


_EXAMPLES: dict[str, str] = {
    "not_null": "not_null: [a, b]",
    "unique": "unique: [a, b]",
    "accepted_values": "accepted_values: {a: [x, y]}",
    "at_least": "at_least: {a: 0}",
    "at_most": "at_most: {a: 9}",
    "not_empty": "not_empty",
    "relationships": "relationships: {a: table.column}",
}


class _Audit(BaseModel):
    """One audit: which rule, over which columns, with which values."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: AuditName
    columns: tuple[str, ...] = ()
    values: tuple[str | int | float, ...] = ()
    sql: str = ""
    title: str = ""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.rule not in ("not_empty", "sql") and not self.columns:
            raise ValueError(f"{self.rule} needs a column, as in {_EXAMPLES[self.rule]}")
        wanted = {"accepted_values": len(self.values) or 1, "at_least": 1, "at_most": 1, "relationships": 1}
        if len(self.values) != wanted.get(self.rule, 0):
            raise ValueError(f"{self.rule} is written as {_EXAMPLES[self.rule]}")
        if self.rule == "relationships" and "." not in str(self.values[0]):
            raise ValueError(f"{self.rule} names a table and its column, as in {_EXAMPLES[self.rule]}")
        if self.rule == "sql" and not self.sql:
            raise ValueError("an audit of your own is written as `name: SELECT …`")
        if self.rule == "sql" and not isinstance(_parsed(self.sql), exp.Query):
            raise ValueError(f"{self.title or 'sql'} is no query in Spark's SQL; write it as `name: SELECT …`")
        return self

    @property
    def label(self) -> str:
        """A name for it, of letters that a check in Dagster may have; a header may have each once."""
        return re.sub(r"\W+", "_", self.title or "_".join([self.rule, *self.columns]), flags=re.ASCII)

    @property
    def query(self) -> str:
        """Spark SQL over `this` whose rows break the rule."""
        names = [name(each, "spark") for each in self.columns]
        first = names[0] if names else ""
        match self.rule:
            case "not_null":
                return f"SELECT * FROM {THIS} WHERE {' OR '.join(f'{each} IS NULL' for each in names)}"
            case "unique":
                listed = ", ".join(names)
                return f"SELECT {listed}, COUNT(*) AS n FROM {THIS} GROUP BY {listed} HAVING COUNT(*) > 1"
            case "accepted_values":
                listed = ", ".join(literal(each, "spark") for each in self.values)
                return f"SELECT * FROM {THIS} WHERE NOT {first} IN ({listed})"
            case "at_least":
                return f"SELECT * FROM {THIS} WHERE {first} < {literal(self.values[0], 'spark')}"
            case "at_most":
                return f"SELECT * FROM {THIS} WHERE {first} > {literal(self.values[0], 'spark')}"
            case "not_empty":
                return f"SELECT n FROM (SELECT COUNT(*) AS n FROM {THIS}) AS counted WHERE n = 0"
            case "relationships":
                table, _, column = str(self.values[0]).rpartition(".")
                equal = f"there.{name(column, 'spark')} = {THIS}.{first}"
                there = f"SELECT 1 FROM {name(table, 'spark')} AS there WHERE {equal}"
                return f"SELECT * FROM {THIS} WHERE NOT {first} IS NULL AND NOT EXISTS ({there})"
            case "sql":
                return self.sql

    @property
    def reads(self) -> tuple[str, ...]:
        """Tables and models that it asks beside the model's own rows."""
        if self.rule not in ("sql", "relationships"):
            return ()
        query = _parsed(self.query)
        assert query is not None
        own = {THIS, *(part.alias for part in query.find_all(exp.CTE))}
        return tuple(sorted({table.name for table in query.find_all(exp.Table)} - own))


def _parsed(sql: str) -> exp.Expr | None:
    try:
        return sqlglot.parse_one(sql, dialect="spark")
    except SqlglotError:
        return None


def _short_form(value: Any) -> Any:
    """A header writes `not_empty`, `unique: [a, b]`, `accepted_values: {a: [1, 2]}`, `relationships: {a: table.column}`
    or `name: SELECT …`."""
    if isinstance(value, str):
        return {"rule": value}
    if not isinstance(value, dict) or len(value) != 1 or "rule" in value:
        return value
    ((rule, said),) = value.items()
    match said:
        case str() if rule not in ("not_null", "unique"):
            return {"rule": "sql", "sql": said, "title": rule}
        case str():
            return {"rule": rule, "columns": (said,)}
        case list():
            return {"rule": rule, "columns": tuple(said)}
        case dict() if len(said) == 1:
            ((column, values),) = said.items()
            return {
                "rule": rule,
                "columns": (column,),
                "values": tuple(values if isinstance(values, list) else [values]),
            }
        case _:
            return value


Audit = Annotated[_Audit, BeforeValidator(_short_form)]
