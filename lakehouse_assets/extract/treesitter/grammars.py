"""The languages that can be read, and their grammars, each loaded when it is first asked for."""

import functools
import importlib
import importlib.metadata
import re
import tomllib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, cast

from tree_sitter import Language, Parser, Query, QueryCursor

from lakehouse_assets.core.errors import BadInputError

GRAMMARS_FILE = files("lakehouse_assets.extract.treesitter") / "grammars.toml"
QUERIES = files("lakehouse_assets.extract.treesitter") / "queries"

ERROR_KIND = 0xFFFF
"""What tree-sitter numbers the nodes around text that it could not read."""

_NOT_OPERATORS = frozenset("()[]{},;:.'\"`\\#@?") | {"::", "...", "=>", "->", "?.", "/*", "*/", "//"}


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """A language as the walk and the queries need it: its nodes' kinds by number, and its facts."""

    language: str
    parser: Parser
    query: Query
    settings: tuple[Mapping[str, str | None], ...]
    """What each pattern of the query says about itself by `#set!`."""
    kinds: Mapping[int, str]
    """Named nodes that are syntax."""
    comments: frozenset[int]
    operators: Mapping[int, str]
    """Tokens that tell what an operation does."""
    operations: frozenset[int]
    """Named nodes that an operator may tell apart."""
    fields: tuple[str, ...]
    """Field names by their numbers; the first means none."""
    identifiers: frozenset[str]
    """Kinds of nodes by which a name is used."""
    not_references: Mapping[tuple[str, str], str | None]
    """Kind and field in which an identifier is a member of something else, not a name in scope. If only beside
    another field, that one; `first` if it is a name in scope where it comes first."""
    members_in_scope: bool
    """Whether the members of a type are in scope inside it by their bare names."""
    doc_comment: re.Pattern[str] | None
    """How a comment begins that documents what follows it."""
    separator: str
    """What stands between the parts of a module's name."""


@functools.cache
def _entries() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(GRAMMARS_FILE.read_text("utf-8"))


SUPPORTED = frozenset(_entries())
"""Names as in `languages.toml`."""


def libraries() -> dict[str, str]:
    """The versions of everything that shapes what is read here."""
    wheels = sorted({"tree-sitter", *(str(entry["wheel"]) for entry in _entries().values())})
    return {wheel: importlib.metadata.version(wheel) for wheel in wheels}


@functools.cache
def grammar_of(language: str) -> Grammar:
    """The grammar of a language, loaded once for a process."""
    entry = _entries().get(language)
    if entry is None:
        raise BadInputError(
            subject=f"language {language!r}",
            seen="there is no grammar for it",
            why="its files cannot be read beyond their text",
            remedy=f"use one of {', '.join(sorted(SUPPORTED))}",
        )
    grammar = Language(getattr(importlib.import_module(entry["module"]), entry.get("function", "language"))())
    query = Query(grammar, "\n".join((QUERIES / f"{name}.scm").read_text("utf-8") for name in entry["queries"]))
    names = {number: grammar.node_kind_for_id(number) or "" for number in range(grammar.node_kind_count)}
    named = {number: name for number, name in names.items() if grammar.node_kind_is_named(number)}
    comments = frozenset(number for number, name in named.items() if "comment" in name)
    doc = entry.get("doc_comment")
    patterns = cast("int", query.pattern_count)  # a number, whatever its type stub says
    return Grammar(
        language=language,
        parser=Parser(grammar),
        query=query,
        settings=tuple(query.pattern_settings(index) for index in range(patterns)),
        kinds={n: name for n, name in named.items() if n not in comments} | {ERROR_KIND: "ERROR"},
        comments=comments,
        operators={n: name for n, name in names.items() if n not in named and _is_operator(name, entry)},
        operations=frozenset(n for n, name in named.items() if _has_operator(name)),
        fields=("", *(grammar.field_name_for_id(n) or "" for n in range(1, grammar.field_count + 1))),
        identifiers=frozenset(entry["identifiers"]),
        not_references=dict(_place(text) for text in entry.get("not_references", ())),
        members_in_scope=entry.get("members_in_scope", False),
        doc_comment=re.compile(doc) if doc else None,
        separator=entry.get("separator", "."),
    )


def set_timeout(tool: Parser | QueryCursor, seconds: float) -> None:
    with warnings.catch_warnings():
        # The successor of this property is a callback, and giving one to the parser crashes the pinned version.
        warnings.simplefilter("ignore", DeprecationWarning)
        tool.timeout_micros = int(seconds * 1_000_000)


def _is_operator(name: str, entry: Mapping[str, Any]) -> bool:
    words = entry.get("operator_words", ())
    return name in words or bool(
        name and name not in _NOT_OPERATORS and not any(c.isalnum() or c in "_\n" for c in name)
    )


def _has_operator(kind: str) -> bool:
    """By the habit of all grammars: binary_expression, unary_operator, augmented_assignment, comparison …"""
    return any(
        word in kind for word in ("expression", "operat", "assignment", "binary", "unary", "comparison", "infix")
    )


def _place(text: str) -> tuple[tuple[str, str], str | None]:
    """`kind.field`, `kind.field beside other` or `kind.field unless first`."""
    place, _, condition = text.partition(" ")
    beside = condition.removeprefix("beside ").removeprefix("unless ")
    kind, _, field = place.partition(".")
    return (kind, field), beside or None
