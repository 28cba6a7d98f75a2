"""Names, values and expressions as Spark SQL: what comes from YAML is quoted or parsed, never spliced in unseen."""

from datetime import date
from typing import Any

from lakehouse_assets.plan import sql_text


def quoted(identifier: str) -> str:
    return sql_text.name(identifier, "spark")


def literal(value: Any) -> str:
    """A value of YAML as a literal; what YAML has and SQL has not, such as a list, is refused."""
    if value is not None and not isinstance(value, str | int | float | date):
        raise ValueError(f"{value!r} is no value that SQL has a literal for")
    return sql_text.literal(value, "spark")


def checked_expression(text: str) -> str:
    """The expression in canonical form; one that is more than an expression (a list, a FROM, a comment) is refused."""
    # Loading sqlglot takes longer than most commands.
    from sqlglot import exp, parse
    from sqlglot.errors import SqlglotError

    try:
        statements = parse(f"SELECT {text}", read="spark")
    except SqlglotError as error:
        raise ValueError(f"{text!r} is no expression of Spark SQL: {_first_line(error)}") from None
    found = statements[0] if len(statements) == 1 else None
    if (
        not isinstance(found, exp.Select)
        or len(found.expressions) != 1
        or any(held for name, held in found.args.items() if name != "expressions")
    ):
        raise ValueError(f"{text!r} is more than one expression")
    (one,) = found.expressions
    if isinstance(one, exp.Alias) or (one.find(exp.Star) and not one.find(exp.Count)):
        raise ValueError(f"{text!r} names or lists columns; give the expression alone")
    return one.sql(dialect="spark", comments=False)


def checked_order(text: str) -> tuple[str, bool]:
    """`column`, `column asc` or `column desc` as a name and whether it descends."""
    column, _, way = text.strip().rpartition(" ")
    match way.lower():
        case "asc" | "desc" if column:
            return column.strip(), way.lower() == "desc"
        case _:
            return text.strip(), False


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].split(". Line")[0]
