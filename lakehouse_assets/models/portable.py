"""Which queries give the same rows in DuckDB as in Spark: those made of nothing but what means the same in both.

The list below is closed. What is not on it, or is on it with a condition that does not hold, runs on Spark. Left out on
purpose: division by what may be zero, sums and averages of floating-point numbers (their order shows), text made of
numbers, rounding, functions of time zones, arrays, patterns with escapes, rows limited without a full order.
"""

from collections.abc import Callable, Iterable
from datetime import date

from sqlglot import exp

_ALWAYS: tuple[type[exp.Expr], ...] = (
    *(exp.Select, exp.From, exp.Group, exp.CTE, exp.Subquery, exp.Column, exp.Identifier, exp.Table, exp.TableAlias),
    *(exp.Alias, exp.Null, exp.Boolean, exp.Exists, exp.Paren, exp.Star, exp.Count, exp.DataType),
    *(exp.Window, exp.WindowSpec, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Order, exp.Ordered),
)
_WHOLE_NUMBERS = ("INT", "BIGINT", "SMALLINT", "TINYINT", "BOOLEAN")
_NUMBERS = {"whole", "float"}
_KINDS = {
    **dict.fromkeys(("INT", "BIGINT", "SMALLINT", "TINYINT"), "whole"),
    **dict.fromkeys(("TEXT", "VARCHAR"), "text"),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPTZ"), "moment"),
    "DOUBLE": "float",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "BINARY": "binary",
    "NULL": "null",
}
"""Types whose values both engines compare in the same way. Between two of these kinds Spark casts, where DuckDB casts
to another type or refuses."""


def why_not(query: exp.Expr) -> str | None:
    """The first thing that keeps a query from running in DuckDB, None if nothing does; its types are annotated."""
    for node in query.walk():
        condition = _CONDITIONS.get(type(node))
        if condition is not None:
            if not condition(node):
                return node.sql("spark")
        elif not isinstance(node, _ALWAYS):
            return node.sql("spark")
    return None


def _kind(node: exp.Expr) -> str | None:
    return _KINDS.get(node.type.this.name) if node.type is not None else None


def _are(kinds: Iterable[str], *nodes: exp.Expr | None) -> bool:
    """Whether what is there of these values is of such a kind, or NULL."""
    return {_kind(node) for node in nodes if node is not None} <= {*kinds, "null"}


def _alike(*nodes: exp.Expr | None) -> bool:
    """Whether the values are of one kind, so that no engine casts one of them; numbers are."""
    kinds = {_kind(node) for node in nodes if node is not None} - {"null"}
    return None not in kinds and (len(kinds) <= 1 or kinds <= _NUMBERS)


def _comparable(*nodes: exp.Expr) -> bool:
    """Whether both engines compare the values as they are; a day may also be written as text."""
    return _alike(*(node for node in nodes if not _is_day(node))) and (
        _alike(*nodes) or all(_kind(node) in ("date", "null") or _is_day(node) for node in nodes)
    )


def _is_day(node: exp.Expr) -> bool:
    if not node.is_string or len(node.name) != len("2026-01-31"):
        return False
    try:
        return bool(date.fromisoformat(node.name))
    except ValueError:
        return False


def _compared(node: exp.Expr) -> bool:
    return _comparable(node.this, node.expression)


def _in(node: exp.Expr) -> bool:
    query = node.args.get("query")
    others = [query.unnest().selects[0]] if query is not None else node.expressions
    return bool(others) and _comparable(node.this, *others)


def _calculated(node: exp.Expr) -> bool:
    return _are(_NUMBERS, node.this, node.args.get("expression"))


def _condition(node: exp.Expr) -> bool:
    return _are(("boolean",), node.this, node.args.get("expression"))


def _branches(node: exp.Expr) -> bool:
    """A case: its conditions are true or false, or values like its own; what comes of it is of one kind."""
    found, ifs = node.this, node.args["ifs"]
    fit = _comparable(found, *(each.this for each in ifs)) if found else _are(("boolean",), *(e.this for e in ifs))
    return fit and _alike(*(each.args["true"] for each in ifs), node.args.get("default"))


def _branch(node: exp.Expr) -> bool:
    if isinstance(node.parent, exp.Case):
        return True  # looked at with the others
    return _are(("boolean",), node.this) and _alike(node.args["true"], node.args.get("false"))


def _texts(node: exp.Expr) -> bool:
    return _are(("text",), node.this, node.args.get("expression"))


def _rows_alike(node: exp.Expr) -> bool:
    pairs = zip(node.this.unnest().selects, node.expression.unnest().selects, strict=False)
    return all(_alike(*pair) or _same_type(*pair) for pair in pairs)


def _same_type(one: exp.Expr, other: exp.Expr) -> bool:
    return one.type is not None and one.type.this.name != "UNKNOWN" and one.type == other.type


def _is_whole(node: exp.Expr) -> bool:
    return node.type is not None and node.type.this.name in _WHOLE_NUMBERS


def _plain_cast(node: exp.Expr) -> bool:
    """To a type that holds every value of the one before: where a value does not fit, the engines part."""
    kind = node.args["to"].this.name
    match kind:
        case "BIGINT" | "DOUBLE":
            return _is_whole(node.this)
        case "DATE":
            return node.this.type is not None and node.this.type.this.name in ("DATE", "TIMESTAMP", "TIMESTAMPTZ")
        case _:
            return node.this.type is not None and node.this.type.this.name == kind


def _safe_division(node: exp.Expr) -> bool:
    """By a number that is not zero, or by what is NULL where it would be."""
    by = node.expression.unnest()
    if not _calculated(node):
        return False
    if isinstance(by, exp.Nullif):
        return by.expression.is_int and int(by.expression.this) == 0
    return by.is_int and int(by.this) != 0


def _plain_pattern(node: exp.Expr) -> bool:
    return _texts(node) and isinstance(node.expression, exp.Literal) and "\\" not in node.expression.this


def _one_value(node: exp.Expr) -> bool:
    return (node.is_string and "\\" not in node.this) or node.is_int


_CONDITIONS: dict[type[exp.Expr], Callable[[exp.Expr], bool]] = {
    exp.Literal: _one_value,
    exp.Sum: lambda node: _is_whole(node.this.expressions[0] if isinstance(node.this, exp.Distinct) else node.this),
    exp.Cast: _plain_cast,
    exp.TryCast: _plain_cast,
    exp.Div: _safe_division,
    exp.Like: _plain_pattern,
    exp.Distinct: lambda node: len(node.expressions) <= 1 or isinstance(node.parent, exp.Select),
    exp.With: lambda node: not node.args.get("recursive"),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ), _compared),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Neg), _calculated),
    **dict.fromkeys((exp.And, exp.Or, exp.Not, exp.Where, exp.Having, exp.Qualify), _condition),
    **dict.fromkeys((exp.Union, exp.Except, exp.Intersect), _rows_alike),
    **dict.fromkeys((exp.Length, exp.StartsWith), _texts),
    **dict.fromkeys((exp.Min, exp.Max), lambda node: _kind(node.this) is not None),
    **dict.fromkeys((exp.Coalesce, exp.Greatest, exp.Least), lambda node: _alike(node.this, *node.expressions)),
    exp.Join: lambda node: _are(("boolean",), node.args.get("on")),
    exp.Is: lambda node: isinstance(node.expression, exp.Null) or _are(("boolean",), node.this),
    exp.In: _in,
    exp.Between: lambda node: _comparable(node.this, node.args["low"], node.args["high"]),
    exp.Case: _branches,
    exp.If: _branch,
    exp.Nullif: _compared,
}
