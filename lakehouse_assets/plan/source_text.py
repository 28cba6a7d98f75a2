"""Python source as what it means: a text without comments, docstrings and layout, and the names that it uses.

Annotations count, because callers and data classes live by them. Texts that only describe don't: docstrings, texts
that stand alone behind an assignment, and the descriptions in a contract. The SQL of a relational step counts in its
canonical form.

Fields that are empty are left out and positions too, so that one source has one meaning in every Python we run on.
"""

import ast
from dataclasses import dataclass, field
from functools import cache
from typing import cast

from lakehouse_assets.plan.canonical_sql import SqlDialect, canonical_sql

_DESCRIBED = frozenset({"Column", "TableContract"})
"""Calls whose `description` tells people what a column or table is, and decides nothing."""

_STEPS = frozenset({"RelationalStep"})
"""Calls whose `sql` is a query."""

_CONTEXTS = frozenset({"ctx", "type_comment", "kind"})
_ANNOTATIONS = frozenset({"annotation", "returns"})

Chain = tuple[str, ...]
"""A name and the attributes taken from it: `a.b.c` is ("a", "b", "c")."""


@dataclass(kw_only=True)
class Meaning:
    """The meaning of a piece of source, as it is gathered: its text, and what it refers to."""

    parts: list[str] = field(default_factory=list[str])
    chains: set[Chain] = field(default_factory=set[Chain])
    imports: list[ast.Import | ast.ImportFrom] = field(default_factory=list[ast.Import | ast.ImportFrom])

    @property
    def text(self) -> str:
        return "".join(self.parts)


def meaning_of(node: ast.AST) -> Meaning:
    meaning = Meaning()
    _node(node, meaning, annotation=False)
    return meaning


def normalized_source(source: str) -> str:
    """A whole source text as its meaning."""
    return meaning_of(ast.parse(source)).text


def is_description(statement: ast.stmt) -> bool:
    """Whether it is a text that stands alone: it is never used."""
    return isinstance(statement, ast.Expr) and _is_text(statement.value)


def chain_of(node: ast.expr) -> Chain | None:
    """The name and attributes that an expression consists of; None if it is anything else."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return (node.id, *reversed(attributes)) if isinstance(node, ast.Name) else None


def _node(node: ast.AST, meaning: Meaning, *, annotation: bool) -> None:
    kind = type(node)
    parts = meaning.parts
    if isinstance(node, ast.Name | ast.Attribute):
        chain = chain_of(node)
        if chain is not None:
            meaning.chains.add(chain)
            parts.append(f"<{'.'.join(chain)}>")
            return
    elif isinstance(node, ast.Constant):
        parts.append(repr(node.value))
        if annotation and isinstance(node.value, str):
            _quoted_annotation(node.value, meaning)
        return
    elif isinstance(node, ast.Import | ast.ImportFrom):
        meaning.imports.append(node)
    elif isinstance(node, ast.Subscript) and chain_of(node.value) == ("Literal",):
        annotation = False  # its texts are values, not names
    told = isinstance(node, ast.Call) and _is_call_of(node, _DESCRIBED)
    if isinstance(node, ast.Call) and _is_call_of(node, _STEPS):
        node = _with_canonical_sql(node)
    parts.append(f"{kind.__name__}(")
    for name in _fields(kind):
        value = getattr(node, name, None)
        if value is None or value == []:
            continue
        parts.append(f"{name}=")
        below = annotation or name in _ANNOTATIONS
        if isinstance(value, ast.AST):
            _node(value, meaning, annotation=below)
        elif isinstance(value, list):
            items = cast(list[object], value)
            _list([each for each in items if not _only_describes(each, told=told)], meaning, annotation=below)
        else:
            parts.append(repr(value))
    parts.append(")")


def _list(items: list[object], meaning: Meaning, *, annotation: bool) -> None:
    parts = meaning.parts
    parts.append("[")
    for each in items:
        if isinstance(each, ast.AST):
            _node(each, meaning, annotation=annotation)
        else:
            parts.append(repr(each))
        parts.append(",")
    parts.append("]")


def _only_describes(item: object, *, told: bool) -> bool:
    if told and isinstance(item, ast.keyword):
        return item.arg == "description"
    return isinstance(item, ast.Expr) and is_description(item)


@cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    return tuple(name for name in kind._fields if name not in _CONTEXTS)


def _quoted_annotation(text: str, meaning: Meaning) -> None:
    """A quoted annotation uses names as well; a text that is no expression is metadata."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return
    meaning.chains |= meaning_of(tree).chains


def _is_call_of(call: ast.Call, names: frozenset[str]) -> bool:
    chain = chain_of(call.func)
    return chain is not None and chain[-1] in names


def _with_canonical_sql(call: ast.Call) -> ast.Call:
    """The step with its query as it means; one that is put together at run time is left as it is."""
    given = {each.arg: each.value.value for each in call.keywords if isinstance(each.value, ast.Constant)}
    if not isinstance(given.get("sql"), str):
        return call
    dialect: SqlDialect = "spark" if given.get("dialect") == "spark" else "duckdb"
    text = canonical_sql(str(given["sql"]), dialect=dialect, subject=f"step {given.get('name')}").text
    keywords = [
        ast.keyword(arg=each.arg, value=ast.Constant(text)) if each.arg == "sql" else each for each in call.keywords
    ]
    return ast.Call(func=call.func, args=call.args, keywords=keywords)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
