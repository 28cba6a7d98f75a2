"""Numbers that the lake keeps as text, because it has no type for them: never compared letter by letter.

A source's numeric comes as the text that the source writes for it, which loses no digit. As text, '99' is more than
'123', and '1.0' is not '1.00'. So a query may pass such a column on, cast it or ask whether it is NULL; one that
compares, orders, groups or aggregates it as it is, is refused, also where it does so without naming the column, as
DISTINCT, USING or ORDER BY 2 do.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

Numbers = Mapping[str, frozenset[str]]
"""By table, the columns that hold numbers as text."""

_REFUSED: tuple[type[exp.Expr], ...] = (
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.In, exp.Between),
    *(exp.Greatest, exp.Least, exp.Nullif, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.Abs),
    *(exp.Ordered, exp.Group, exp.Distinct, exp.Window, exp.Pivot, exp.Anonymous),
)
_PASSED_ON: tuple[type[exp.Expr], ...] = (
    *(exp.Paren, exp.Coalesce, exp.Case, exp.If, exp.Alias, exp.AnyValue, exp.First, exp.Last, exp.FirstValue),
    *(exp.LastValue, exp.Lag, exp.Lead, exp.IgnoreNulls, exp.RespectNulls, exp.Subquery),
    *(exp.Struct, exp.Array, exp.Tuple, exp.PropertyEQ, exp.Dot, exp.Bracket),
)


@dataclass(frozen=True, kw_only=True)
class NumberTexts:
    """What a query does with such columns: which of its own are such, and the first use of one that is refused."""

    columns: frozenset[str]
    misuse: tuple[str, exp.Expr] | None


def number_texts(query: exp.Expr, numbers: Numbers) -> NumberTexts:
    """Follow the columns through a query; one that is qualified leaves nothing to guess."""
    given: dict[int, frozenset[str]] = {}
    if not any(numbers.values()):
        return NumberTexts(columns=frozenset(), misuse=None)
    for scope in traverse_scope(query):
        found: set[str] = set()
        for name, node in _held(scope, numbers, given):
            use, place = _use(node)
            if use is not None:
                return NumberTexts(columns=frozenset(), misuse=(name, use))
            found |= {place} if place else set()
        match scope.expression:
            case exp.SetOperation() as union:
                found |= _of_branches(union, given)
            case exp.Select() as select if select.is_star:
                found |= {name for each in scope.sources.values() for name in _numbers_of(each, numbers, given)}
            case _:
                pass
        here = frozenset().union(*(_numbers_of(each, numbers, given) for each in scope.sources.values()))
        misuse = next(_compared_unnamed(scope.expression, frozenset(found), here), None)
        if misuse is not None:
            return NumberTexts(columns=frozenset(), misuse=misuse)
        given[id(scope.expression)] = frozenset(found)
    return NumberTexts(columns=given.get(id(query), frozenset()), misuse=None)


def _held(scope: Scope, numbers: Numbers, given: Mapping[int, frozenset[str]]) -> Iterator[tuple[str, exp.Expr]]:
    """Where such a number stands in a query: its columns, and queries in the place of a value."""
    for column in scope.columns:
        if _is_number(scope, column, numbers, given):
            yield column.name, column
    for inner in scope.subquery_scopes:
        if isinstance(inner.expression, exp.Query) and given.get(id(inner.expression)):
            column = inner.expression.selects[0].find(exp.Column)
            yield column.name if column is not None else "a column", inner.expression


def _compared_unnamed(
    query: exp.Expr, passed_on: frozenset[str], held: frozenset[str]
) -> Iterator[tuple[str, exp.Expr]]:
    """Comparisons that do not name the column: of whole rows, by place, by another name, of all columns.

    `held` are such columns of the tables that are read.
    """
    if (
        passed_on
        and isinstance(query, exp.SetOperation)
        and (query.args.get("distinct") or not isinstance(query, exp.Union))
    ):
        yield min(passed_on), query
    names = query.named_selects if isinstance(query, exp.Query) else []
    order, group, distinct = (query.args.get(each) for each in ("order", "group", "distinct"))
    if passed_on and distinct is not None and isinstance(query, exp.Select) and not distinct.args.get("on"):
        yield min(passed_on), distinct
    for clause in (order, group):
        for each in clause.expressions if clause is not None else ():
            key = each.this if isinstance(each, exp.Ordered) else each
            place = names[int(key.this) - 1 : int(key.this)] if key.is_int else [key.name]
            if passed_on.intersection(place) and (key.is_int or (isinstance(key, exp.Column) and not key.table)):
                yield place[0], each
            elif passed_on and isinstance(key, exp.Var):
                yield min(passed_on), each
        if clause is not None and clause.args.get("all") and passed_on:
            yield min(passed_on), clause
    for join in query.args.get("joins") or ():
        named = {each.name.lower() for each in join.args.get("using") or ()}
        if held.intersection(held if join.args.get("method") == "NATURAL" else named):
            yield min(held.intersection(named) or held), join
    for each in query.find_all(exp.Columns, exp.Pivot) if held else ():
        yield min(held), each


def _is_number(scope: Scope, column: exp.Column, numbers: Numbers, given: Mapping[int, frozenset[str]]) -> bool:
    around: Scope | None = scope
    while around is not None:  # a correlated subquery speaks of tables around it
        if not column.table:
            held = {name: _numbers_of(each, numbers, given) for name, each in around.sources.items()}
            whole_row = bool(held.get(column.name))
            return whole_row or any(column.name.lower() in each for each in held.values())
        if column.table in around.sources:
            return column.name.lower() in _numbers_of(around.sources[column.table], numbers, given)
        around = around.parent
    return False


def _numbers_of(source: exp.Table | Scope, numbers: Numbers, given: Mapping[int, frozenset[str]]) -> frozenset[str]:
    if isinstance(source, Scope):
        return given.get(id(source.expression), frozenset())
    found = numbers.get(source.name.lower(), frozenset())
    return found.union(source.alias_column_names) if found else found  # by whatever names it is read here


def _use(column: exp.Expr) -> tuple[exp.Expr | None, str | None]:
    """The refused use of a column, if it is one; else the name under which its query passes it on, if it does."""
    node: exp.Expr = column
    while (parent := node.parent) is not None:
        match parent:
            case exp.Select():
                return None, node.alias_or_name if node.arg_key == "expressions" else None
            case exp.Window() if node.arg_key == "this":
                node = parent
            case exp.Case() if node.arg_key == "this":
                return parent, None
            case exp.If() if node.arg_key == "this":
                return None, None
            case _ if isinstance(parent, _PASSED_ON):
                node = parent
            case exp.Count():
                return None, None
            case _ if isinstance(parent, (*_REFUSED, exp.AggFunc)):
                return parent, None
            case _:
                return None, None
    return None, None


def _of_branches(union: exp.SetOperation, given: Mapping[int, frozenset[str]]) -> set[str]:
    """Columns of a union: by place, those that are such in one of its branches."""
    found: set[str] = set()
    for branch in (union.this.unnest(), union.expression.unnest()):
        pairs = zip(union.named_selects, branch.named_selects, strict=False)
        found |= {name for name, own in pairs if own in given.get(id(branch), ())}
    return found
