"""Expressions and heads of definitions as text: as one would write them on one line."""

import ast
from typing import Any

LONGEST_TEXT = 1000
"""Characters that are kept: a default value may be a table of any size."""


def expression(node: ast.expr) -> str:
    """What `ast.unparse` gives; the few shapes that nearly all annotations, decorators and defaults have take
    a shorter way, as unparsing them costs more than parsing the file did."""
    return _cut(_quick(node) or _unparsed(node))


def signature(node: Any) -> str | None:
    """Parameters and result of a function, bases and keywords of a class; None where there is nothing to say."""
    match node:
        case ast.ClassDef():
            parts = [expression(base) for base in node.bases]
            parts += [
                f"{key.arg}={expression(key.value)}" if key.arg else f"**{expression(key.value)}"
                for key in node.keywords
            ]
            return _cut(f"({', '.join(parts)})") if parts else None
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            result = f" -> {expression(node.returns)}" if node.returns is not None else ""
            return _cut(f"({_parameters(node.args)}){result}")
        case ast.Lambda():
            return _cut(f"({_parameters(node.args)})")
        case _:
            return None


def storable(text: str) -> str:
    """The text as it can be stored as UTF-8: a literal may hold halves of surrogate pairs."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _parameters(args: ast.arguments) -> str:
    positional = [*args.posonlyargs, *args.args]
    without_default = len(positional) - len(args.defaults)
    parts = [_parameter(arg) for arg in positional[:without_default]]
    parts += [_parameter(arg, value) for arg, value in zip(positional[without_default:], args.defaults, strict=True)]
    if args.posonlyargs:
        parts.insert(len(args.posonlyargs), "/")
    if args.vararg is not None:
        parts.append("*" + _parameter(args.vararg))
    elif args.kwonlyargs:
        parts.append("*")
    parts += [_parameter(arg, value) for arg, value in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    if args.kwarg is not None:
        parts.append("**" + _parameter(args.kwarg))
    return ", ".join(parts)


def _parameter(arg: ast.arg, default: ast.expr | None = None) -> str:
    if arg.annotation is not None:
        annotated = f"{arg.arg}: {expression(arg.annotation)}"
        return annotated if default is None else f"{annotated} = {expression(default)}"
    return arg.arg if default is None else f"{arg.arg}={expression(default)}"


def _quick(node: ast.expr) -> str | None:
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute(value=ast.Name() | ast.Attribute()):
            value = _quick(node.value)
            return None if value is None else f"{value}.{node.attr}"
        case ast.Constant(value=str() | bool() | None):
            return repr(node.value)
        case ast.Constant(value=int() as number) if number.bit_length() <= 64:
            return repr(number)
        case ast.Call(args=[], keywords=[]):
            function = _quick(node.func)
            return None if function is None else f"{function}()"
        case _:
            return None


def _unparsed(node: ast.expr) -> str:
    try:
        return storable(ast.unparse(node))
    except (RecursionError, ValueError):
        # Nested deeper than the interpreter goes, or a number longer than it writes.
        return "…"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"
