"""The parts of an index. What there are hundreds of thousands of is a named tuple: it is quick to make, and sorts."""

from dataclasses import dataclass, field
from typing import NamedTuple

Range = tuple[int, ...]
"""start line, start column, end line, end column; empty where there is none."""


class Diagnostic(NamedTuple):
    severity: int = 0
    code: str = ""
    message: str = ""
    source: str = ""
    tags: tuple[int, ...] = ()


class Occurrence(NamedTuple):
    range: Range
    symbol: str = ""
    roles: int = 0
    syntax_kind: int = 0
    documentation: tuple[str, ...] = ()
    enclosing_range: Range = ()
    diagnostics: tuple[Diagnostic, ...] = ()


class Relationship(NamedTuple):
    symbol: str
    is_reference: bool = False
    is_implementation: bool = False
    is_type_definition: bool = False
    is_definition: bool = False


class Symbol(NamedTuple):
    """What an index says about a symbol."""

    symbol: str
    kind: int = 0
    display_name: str = ""
    documentation: tuple[str, ...] = ()
    signature: str = ""
    signature_language: str = ""
    enclosing_symbol: str = ""
    relationships: tuple[Relationship, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Document:
    path: str
    language: str = ""
    text: str = ""
    position_encoding: int = 0
    occurrences: list[Occurrence] = field(default_factory=list[Occurrence])
    symbols: list[Symbol] = field(default_factory=list[Symbol])


@dataclass(frozen=True, kw_only=True)
class Metadata:
    """Who wrote the index, and of what."""

    tool: str = ""
    tool_version: str = ""
    arguments: tuple[str, ...] = ()
    project_root: str = ""
    text_encoding: int = 0
