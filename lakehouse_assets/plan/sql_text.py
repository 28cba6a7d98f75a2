"""Values and names as SQL text, for each of the engines that read it. Nothing is ever spliced unquoted."""

import math
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Literal, assert_never

Dialect = Literal["spark", "duckdb", "datafusion"]
Value = str | int | float | bool | date | datetime | None

_UNCOUNTABLE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def literal(value: Value, dialect: Dialect) -> str:
    """The value; a moment without a zone is taken for UTC."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case float():
            return repr(value) if math.isfinite(value) else f"CAST('{_UNCOUNTABLE[repr(value)]}' AS DOUBLE)"
        case datetime():
            known = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
            moment = known.astimezone(UTC).replace(tzinfo=None).isoformat(sep=" ", timespec="microseconds")
            if dialect == "datafusion":
                # Its own TIMESTAMP literals have another unit than the columns, which a partition predicate refuses.
                return f"""arrow_cast('{moment}Z', 'Timestamp(Microsecond, Some("UTC"))')"""
            # DuckDB's plain TIMESTAMP has no zone, and would be taken for the machine's own.
            return f"{'TIMESTAMPTZ' if dialect == 'duckdb' else 'TIMESTAMP'} '{moment}+00:00'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case str():
            if dialect != "spark":
                return "'" + value.replace("'", "''") + "'"
            # Spark reads backslash escapes in literals, and before that puts variables in the place of ${…}.
            text = value.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\u0024")
            return f"'{text}'"
        case _:
            assert_never(value)


def name(identifier: str, dialect: Dialect) -> str:
    if dialect == "spark":
        return "`" + identifier.replace("`", "``") + "`"
    return '"' + identifier.replace('"', '""') + '"'


def delta_name(path: str) -> str:
    """A Delta table by its folder, as Spark names it."""
    return f"delta.{name(path, 'spark')}"


def column(identifier: str, dialect: Dialect, *, of: str = "") -> str:
    return f"{of}.{name(identifier, dialect)}" if of else name(identifier, dialect)


def in_list(expression: str, values: Iterable[Value], dialect: Dialect) -> str:
    return f"{expression} IN ({', '.join(literal(value, dialect) for value in values)})"


def null_safe_equal(left: str, right: str, dialect: Dialect) -> str:
    return f"{left} <=> {right}" if dialect == "spark" else f"{left} IS NOT DISTINCT FROM {right}"
