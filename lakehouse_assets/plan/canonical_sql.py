"""SQL as what it means: one text for all spellings of a query.

Invariant: layout, comments, the case of keywords and names, quotes that a name does not need, parentheses that change
nothing, INNER, OUTER and AS make no difference; everything else does. The canonical text reads back as the tree it was
written from; where that would fail for want of a parenthesis, those of the author are kept.

Names in braces stand for relations, as in `SELECT * FROM {links}`: whoever runs the text puts their names there.

The library that parses is loaded at the first use: it takes a tenth of a second, a query about two milliseconds.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.hashing import fingerprint

if TYPE_CHECKING:
    from sqlglot import exp

SqlDialect = Literal["duckdb", "spark"]

LIBRARY = "sqlglot"
"""Its version is part of what decides the canonical text."""

_SLOT = re.compile(r"\{([A-Za-z_]\w*)\}")  # {4} is a number of times in a pattern
_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass(frozen=True, kw_only=True)
class CanonicalSql:
    """A query's canonical text; and its tree as JSON, which `sqlglot.serde.load` reads back."""

    text: str
    tree: str
    dialect: SqlDialect

    @property
    def fingerprint(self) -> str:
        return fingerprint([self.dialect, self.text])


def canonical_sql(sql: str, *, dialect: SqlDialect = "duckdb", subject: str = "query") -> CanonicalSql:
    """The query's canonical form; refused, under the name of `subject`, if it cannot be parsed."""
    tree = canonical_tree(sql, dialect=dialect, subject=subject)
    return CanonicalSql(text=_text(tree, dialect), tree=json.dumps(tree.dump(), separators=(",", ":")), dialect=dialect)


def canonical_tree(sql: str, *, dialect: SqlDialect = "duckdb", subject: str = "query") -> "exp.Expr":
    """The canonical text, parsed: its tree is the same for every spelling."""
    written = parsed(sql, dialect=dialect, subject=subject)
    _plain(written, dialect)
    bare = _without_parentheses(written.copy())
    try:
        again = parsed(_text(_parenthesized(bare.copy()), dialect), dialect=dialect, subject=subject)
    except BadInputError:  # a parenthesis too many, or one too few
        return written
    _plain(again, dialect)
    return again if _without_parentheses(again.copy()) == bare else written


def in_spark_sql(sql: str, values: Mapping[str, str | None] | None = None) -> str:
    """A query of DuckDB's in Spark's words, with values in place of the names behind `$`.

    Spark has such names too, but the parser that Delta puts in front of Spark's does not know their values.
    """
    import sqlglot
    from sqlglot import exp

    def filled(node: "exp.Expr") -> "exp.Expr":
        if not isinstance(node, exp.Placeholder | exp.Parameter):
            return node
        value = (values or {})[node.name]
        return exp.null() if value is None else exp.Literal.string(value)

    return sqlglot.parse_one(sql, read="duckdb").transform(filled).sql(dialect="spark")


def parsed(sql: str, *, dialect: SqlDialect, subject: str) -> "exp.Expr":
    """The one query of a text as it is written, relations by their names."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        trees = [tree for tree in sqlglot.parse(_SLOT.sub(r"\1", sql), dialect=dialect) if tree is not None]
    except SqlglotError as error:
        raise _unreadable(subject, str(error).strip().splitlines()[0].rstrip(".")) from error
    if len(trees) != 1:
        raise _unreadable(subject, f"it has {len(trees)} statements")
    return trees[0]


def _unreadable(subject: str, seen: str) -> BadInputError:
    return BadInputError(
        subject=subject,
        seen=seen,
        why="what it reads and means cannot be told, so nothing may be made by it",
        remedy="write one query that the engine understands",
    )


def _text(tree: "exp.Expr", dialect: SqlDialect) -> str:
    return tree.sql(dialect=dialect, pretty=True, comments=False)


def _plain(tree: "exp.Expr", dialect: SqlDialect) -> None:
    """Take away what says nothing: where it stood, comments, the case of names, quotes, words that may be left out."""
    from sqlglot import exp
    from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

    normalize_identifiers(tree, dialect=dialect)
    for node in tree.walk():
        node.comments = None
        node._meta = None  # pyright: ignore[reportPrivateUsage]  # positions; there is no other way to be rid of them
        match node:
            case exp.Identifier():
                node.set("quoted", not _PLAIN_NAME.fullmatch(node.name) or node.name.upper() in _keywords(dialect))
            case exp.Anonymous():
                node.set("this", node.name.upper())
            case exp.Join() if node.kind == "INNER" or (node.kind == "OUTER" and node.side):
                node.set("kind", None)
            case exp.Ordered() if node.args.get("desc") is False:
                node.set("desc", None)
            case _:
                pass


@cache
def _keywords(dialect: SqlDialect) -> frozenset[str]:
    from sqlglot.dialects.dialect import Dialect

    return frozenset(Dialect.get_or_raise(dialect).tokenizer_class.KEYWORDS)


def _without_parentheses(tree: "exp.Expr") -> "exp.Expr":
    """The tree says by itself what belongs together. Chains of AND and of OR lean to the left."""
    from sqlglot import exp

    for node in list(tree.find_all(exp.Paren)):
        _put(node, node.this)
    for node in list(tree.find_all(exp.Subquery)):
        inner = node.this
        if isinstance(inner, exp.Subquery) and inner.is_wrapper:
            inner = inner.unnest()
            node.set("this", inner)
        if node.is_wrapper and _needs_no_parentheses(node, inner):
            tree = inner if node is tree else tree
            _put(node, inner)
    for kind in (exp.And, exp.Or):
        for node in list(tree.find_all(kind)):
            if not isinstance(node.parent, kind):
                _lean_left(node, kind)
    return tree


def _needs_no_parentheses(node: "exp.Subquery", inner: "exp.Expr") -> bool:
    """Whether a query without a name may stand as it is: alone, or as a plain part of a union."""
    from sqlglot import exp

    if node.parent is None:
        return True
    modified = any(inner.args.get(name) for name in ("with_", "order", "limit", "offset"))
    return isinstance(node.parent, exp.SetOperation) and isinstance(inner, exp.Select) and not modified


def _lean_left(node: "exp.Connector", kind: "type[exp.Connector]") -> None:
    operands: list[exp.Expr] = []
    waiting: list[exp.Expr] = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, kind):
            waiting += [each.expression, each.this]
        else:
            operands.append(each)
    left = operands[0]
    for right in operands[1:-1]:
        left = kind(this=left, expression=right)
    node.set("this", left)
    node.set("expression", operands[-1])


def _put(node: "exp.Expr", other: "exp.Expr") -> None:
    """Put another in a node's place, if it has one."""
    other.pop()
    node.replace(other)


def _parenthesized(tree: "exp.Expr") -> "exp.Expr":
    """Parentheses where an operand would otherwise belong to another operator."""
    from sqlglot import exp

    for node in list(tree.find_all(exp.Binary, exp.Unary, exp.Between, exp.In)):
        own = _binds(node)
        if own is None or isinstance(node, exp.Paren):
            continue
        for name, operand in list(node.args.items()):
            below = _binds(operand) if isinstance(operand, exp.Expr) else None
            if below is None or isinstance(operand, exp.Paren):
                continue
            chained = name == "this" and below == own and not isinstance(node, exp.Predicate | exp.Unary)
            if below < own or (below == own and not chained):
                around = exp.Paren()
                operand.replace(around)
                around.set("this", operand)
    return tree


def _binds(node: "exp.Expr") -> int | None:
    """How tightly an operator binds; None for what no other can come between."""
    from sqlglot import exp

    match node:
        case exp.Paren() | exp.Dot() | exp.Bracket() | exp.Escape():
            return None
        case exp.Or():
            return 1
        case exp.And():
            return 2
        case exp.Not():
            return 3
        case exp.Add() | exp.Sub():
            return 6
        case exp.Mul() | exp.Div() | exp.Mod() | exp.IntDiv():
            return 7
        case exp.Neg() | exp.BitwiseNot():
            return 8
        case exp.Predicate() if isinstance(node, exp.Binary | exp.Between | exp.In):
            return 4
        case exp.Binary() | exp.Unary():
            # Engines differ in how these bind.
            return 5
        case _:
            return None
