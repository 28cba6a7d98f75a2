"""Which queries give the same rows in DuckDB as in Spark: those made of nothing but what means the same in both.

The list below is closed. What is not on it, or is on it with a condition that does not hold, runs on Spark. Left out on
purpose: division by what may be zero, sums and averages of floating-point numbers (their order shows), text made of
numbers, rounding, functions of time zones, arrays, patterns with escapes, rows limited without a full order.
"""

from collections.abc import Callable

from sqlglot import exp

_ALWAYS: tuple[type[exp.Expr], ...] = (
    *(exp.Select, exp.From, exp.Join, exp.Where, exp.Group, exp.Having, exp.With, exp.CTE, exp.Subquery, exp.Qualify),
    *(exp.Union, exp.Except, exp.Intersect, exp.Column, exp.Identifier, exp.Table, exp.TableAlias, exp.Alias),
    *(exp.Null, exp.Boolean, exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE),
    *(exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is, exp.In, exp.Between, exp.Exists, exp.Case, exp.If, exp.Coalesce),
    *(exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Paren, exp.Star, exp.Count, exp.Min, exp.Max, exp.Distinct),
    *(exp.Window, exp.WindowSpec, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Order, exp.Ordered, exp.Nullif),
    *(exp.Length, exp.StartsWith, exp.DataType, exp.Greatest, exp.Least),
)
_WHOLE_NUMBERS = ("INT", "BIGINT", "SMALLINT", "TINYINT", "BOOLEAN")


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
    if isinstance(by, exp.Nullif):
        return by.expression.is_int and int(by.expression.this) == 0
    return by.is_int and int(by.this) != 0


def _plain_pattern(node: exp.Expr) -> bool:
    return isinstance(node.expression, exp.Literal) and "\\" not in node.expression.this


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
}
