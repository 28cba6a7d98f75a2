"""A Python file's text to its local facts, whatever the text is.

What the interpreter's parser takes is read deeply. What it refuses (newer syntax, Python 2, errors) is left to
tree-sitter, and a diagnostic says why. Passes run one after the other, and when a limit ends one, what was finished
before it stays.
"""

import ast
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from lakehouse_assets.core.collector import undisturbed
from lakehouse_assets.extract.facts import Facts
from lakehouse_assets.extract.python.columns import definition_columns, node_columns, prop_columns, syntax_edges
from lakehouse_assets.extract.python.flow_edges import add_flow_edges
from lakehouse_assets.extract.python.flows import summarize
from lakehouse_assets.extract.python.limits import Deadline, LimitReachedError, Limits
from lakehouse_assets.extract.python.scopes import build_scopes
from lakehouse_assets.extract.python.walk import Walk
from lakehouse_assets.extract.treesitter.extractor import extract_with_tree_sitter

LANGUAGE = "Python"
_PARSER_CALLS = 1_000
"""The interpreter's default, of which its parser allows itself a multiple on the C stack."""
_OWN_CALLS = 30_000
"""Calls of Python functions by each other take no C stack, and a parsed tree is at most some thousand levels deep."""


def extract_python(source: bytes | str, limits: Limits | None = None) -> Facts:
    """The local facts of a file. Raises nothing, whatever the source."""
    limits = limits or Limits()
    text = _text(source)
    lines = _line_count(text)
    if len(text) > limits.characters:
        return _cut_off(lines, f"longer than {limits.characters} characters")
    with undisturbed():
        with _calls(_PARSER_CALLS):
            tree = _parsed(text)
        if isinstance(tree, str):
            return _without_tree(text, tree)
        with _calls(_OWN_CALLS):
            return _facts(tree, lines, limits)


def _facts(tree: ast.Module, lines: int, limits: Limits) -> Facts:
    deadline = Deadline(limits.seconds, limits.flow_edges)
    try:
        walk = Walk(tree, deadline, limits.nodes)
    except (LimitReachedError, RecursionError) as reached:
        return _cut_off(lines, _reason(reached))
    definitions = walk.definitions
    facts = Facts(
        language=LANGUAGE,
        parser="ast",
        status="ok",
        lines=lines,
        defs=definition_columns(definitions, lines),
        nodes=node_columns(definitions),
        edges=syntax_edges(definitions),
        props=prop_columns(definitions),
    )
    try:
        scopes = build_scopes(tree)
        nodes, parents = [each.node for each in definitions], [each.parent for each in definitions]
        facts = replace(facts, summary=summarize(tree, nodes, parents, scopes, facts.defs["descriptor"]))
        add_flow_edges(definitions, scopes, facts.edges, deadline)
    except (LimitReachedError, RecursionError) as reached:
        return replace(facts, status="cut_off", diagnostics=(f"1:0: {_reason(reached)}",))
    return facts


def _without_tree(text: str, refusal: str) -> Facts:
    """What a parser recovers that takes any text, and knows the syntax of other versions of the language."""
    facts = extract_with_tree_sitter(text, LANGUAGE)
    return replace(facts, diagnostics=(refusal, *facts.diagnostics))


def _cut_off(lines: int, reason: str) -> Facts:
    """Facts of a file of which nothing but its being there is known."""
    definitions = Walk(ast.Module(body=[], type_ignores=[]), Deadline(60.0), 10).definitions
    return Facts(
        language=LANGUAGE,
        parser="none",
        status="cut_off",
        diagnostics=(f"1:0: {reason}",),
        lines=lines,
        defs=definition_columns(definitions, lines),
        nodes=node_columns(definitions),
        edges=syntax_edges(definitions),
    )


def _text(source: bytes | str) -> str:
    """Text without a byte order mark; bytes that are no UTF-8 are read one by one, which cannot fail."""
    if isinstance(source, bytes):
        try:
            source = source.decode("utf-8")
        except UnicodeDecodeError:
            source = source.decode("latin-1")
    return source.removeprefix("\ufeff")


def _line_count(text: str) -> int:
    ends = text.count("\n") + text.count("\r") - text.count("\r\n")
    return ends + (not text.endswith(("\n", "\r")) and text != "")


def _parsed(text: str) -> ast.Module | str:
    """The tree, or what the parser has against the text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # doubtful escapes and comparisons are not what this is about
        try:
            return ast.parse(text)
        except SyntaxError as error:
            return f"{error.lineno or 1}:{max((error.offset or 1) - 1, 0)}: {error.msg}"
        except (ValueError, RecursionError, MemoryError) as error:
            return f"1:0: {_reason(error)}"


def _reason(error: Exception) -> str:
    match error:
        case RecursionError():
            return "nested too deeply"
        case MemoryError():
            return "too complex for the interpreter's parser"
        case UnicodeEncodeError():
            return "has characters that no encoding can write"
        case _:
            return str(error)


@contextmanager
def _calls(deeper: int) -> Iterator[None]:
    """Lets calls nest so much deeper than here: what is too deep must not depend on who called."""
    before = sys.getrecursionlimit()
    depth = 0
    frame = sys._getframe()
    while frame is not None:
        depth += 1
        frame = frame.f_back
    sys.setrecursionlimit(depth + deeper)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
