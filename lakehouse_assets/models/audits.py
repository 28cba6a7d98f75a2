"""Audits: queries that must return no rows, written out or by the usual names."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from lakehouse_assets.plan.sql_text import literal, name

THIS = "this"
"""How an audit's own SQL names the table that it is asked of."""

AuditName = Literal["not_null", "unique", "accepted_values", "at_least", "at_most", "not_empty", "sql"]


class _Audit(BaseModel):
    """One audit: which rule, over which columns, with which values."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: AuditName
    columns: tuple[str, ...] = ()
    values: tuple[str | int | float, ...] = ()
    sql: str = ""
    title: str = ""

    @property
    def label(self) -> str:
        """A name for it, unique enough within a model."""
        return self.title or "_".join([self.rule, *self.columns])

    def query(self, columns: tuple[str, ...]) -> str:
        """Spark SQL over `this` whose rows break the rule; `columns` are those of the model."""
        names = [name(each, "spark") for each in self.columns or columns[:1]]
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
            case "sql":
                return self.sql


def _short_form(value: Any) -> Any:
    """A header writes `not_empty`, `unique: [a, b]`, `accepted_values: {a: [1, 2]}` or `name: SELECT …`."""
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
