"""What each class of Python's syntax tree looks like as a node: its children in order, and what it is called.

Children come in the order of evaluation where that differs from the text (a value before its target, a definition's
head before its body): whoever reads nodes by their numbers then meets uses and bindings as they happen.
"""

import ast
from collections.abc import Callable
from typing import Any, NamedTuple

LONGEST_NAME = 60
"""Characters of a literal that are kept as a node's name."""

OPERATORS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.MatMult: "@",
    ast.Div: "/",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.BitAnd: "&",
    ast.FloorDiv: "//",
    ast.And: "and",
    ast.Or: "or",
    ast.Not: "not",
    ast.Invert: "~",
    ast.UAdd: "+",
    ast.USub: "-",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}

# Nothing of these is a node: texts, numbers, and the singletons that CPython shares between trees.
_LEAF_FIELDS = frozenset(
    {"ctx", "op", "ops", "kind", "type_comment", "type_ignores", "simple", "is_async", "conversion", "level"}
    | {"id", "arg", "attr", "module", "asname", "rest", "kwd_attrs", "str"}
)
_CLASSES_WITH_TEXT_IN = {
    "name": ("alias", "ExceptHandler", "MatchAs", "MatchStar", "TypeVar", "ParamSpec", "TypeVarTuple"),
    "names": ("Global", "Nonlocal"),
    "value": ("Constant", "MatchSingleton"),
}
_EVALUATED: dict[type, tuple[str, ...]] = {
    ast.Assign: ("value", "targets"),
    ast.AugAssign: ("value", "target"),
    ast.AnnAssign: ("annotation", "value", "target"),
    ast.NamedExpr: ("value", "target"),
    ast.For: ("iter", "target", "body", "orelse"),
    ast.AsyncFor: ("iter", "target", "body", "orelse"),
    ast.comprehension: ("iter", "target", "ifs"),
    ast.ListComp: ("generators", "elt"),
    ast.SetComp: ("generators", "elt"),
    ast.GeneratorExp: ("generators", "elt"),
    ast.DictComp: ("generators", "key", "value"),
}


def _children(cls: type[ast.AST]) -> tuple[str, ...]:
    if cls in _EVALUATED:
        return _EVALUATED[cls]
    return tuple(
        name
        for name in cls._fields
        if name not in _LEAF_FIELDS and cls.__name__ not in _CLASSES_WITH_TEXT_IN.get(name, ())
    )


def _constant(node: Any) -> str:
    return literal(node.value)


def literal(value: object) -> str:
    """A constant as it could be written, cut where it is long."""
    if isinstance(value, str | bytes) and len(value) > LONGEST_NAME:
        return repr(value[:LONGEST_NAME]) + "…"
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 4 * LONGEST_NAME:
        return hex(value)[:LONGEST_NAME] + "…"  # Python refuses to write long numbers as decimals
    return repr(value)


_NAMES: dict[str, Callable[[Any], str | None]] = {
    "arg": lambda node: node.arg,
    "keyword": lambda node: node.arg,
    "alias": lambda node: f"{node.name} as {node.asname}" if node.asname else node.name,
    "ImportFrom": lambda node: "." * (node.level or 0) + (node.module or ""),
    "BinOp": lambda node: OPERATORS[node.op.__class__],
    "BoolOp": lambda node: OPERATORS[node.op.__class__],
    "UnaryOp": lambda node: OPERATORS[node.op.__class__],
    "AugAssign": lambda node: OPERATORS[node.op.__class__] + "=",
    "Compare": lambda node: " ".join([OPERATORS[op.__class__] for op in node.ops]),
    "AnnAssign": lambda node: None if node.simple else "()",
    "Global": lambda node: ", ".join(node.names),
    "Nonlocal": lambda node: ", ".join(node.names),
    "ExceptHandler": lambda node: node.name,
    "MatchSingleton": _constant,
    "MatchAs": lambda node: node.name,
    "MatchStar": lambda node: node.name,
    "MatchMapping": lambda node: node.rest,
    "MatchClass": lambda node: ", ".join(node.kwd_attrs) or None,
    "FormattedValue": lambda node: "!" + chr(node.conversion) if node.conversion > 0 else None,
    "Interpolation": lambda node: "!" + chr(node.conversion) if node.conversion > 0 else None,
    "comprehension": lambda node: "async" if node.is_async else None,
    "TypeVar": lambda node: node.name,
    "ParamSpec": lambda node: node.name,
    "TypeVarTuple": lambda node: node.name,
}

# What the walk has to know of a class before it can go on; see `walk`.
PLAIN, NAME, CONSTANT, ATTRIBUTE, CALL, DEFINITION, EVENT, WITHOUT_POSITION, YIELD = range(9)

_EVENTS = (ast.stmt, ast.alias, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping)
_TREATMENTS: dict[type, int] = {
    ast.Name: NAME,
    ast.Constant: CONSTANT,
    ast.Attribute: ATTRIBUTE,
    ast.Call: CALL,
    ast.ClassDef: DEFINITION,
    ast.FunctionDef: DEFINITION,
    ast.AsyncFunctionDef: DEFINITION,
    ast.Lambda: DEFINITION,
    ast.arguments: WITHOUT_POSITION,
    ast.comprehension: WITHOUT_POSITION,
    ast.withitem: WITHOUT_POSITION,
    ast.match_case: WITHOUT_POSITION,
    ast.Yield: YIELD,
    ast.YieldFrom: YIELD,
}


class Shape(NamedTuple):
    """A class of nodes, as the walk looks it up."""

    kind: str
    treatment: int
    last_first: tuple[str, ...]
    """Fields with children, from the last to the first: the order in which a stack takes them."""
    name: Callable[[Any], str | None] | None


def _shape(cls: type[ast.AST]) -> Shape:
    return Shape(
        kind=cls.__name__,
        treatment=_TREATMENTS.get(cls, EVENT if issubclass(cls, _EVENTS) else PLAIN),
        last_first=_children(cls)[::-1],
        name=_NAMES.get(cls.__name__),
    )


SHAPES: dict[type, Shape] = {
    cls: _shape(cls) for cls in vars(ast).values() if isinstance(cls, type) and issubclass(cls, ast.AST)
}
