"""Names of definitions within their file, in SCIP's notation: unique, and the same wherever else the file changes."""

import re
from collections.abc import Mapping
from typing import Literal

Suffix = Literal["/", "#", "().", "(declared).", ".", "!"]

_OF_SUFFIX: Mapping[Suffix, tuple[str, ...]] = {
    "/": ("module", "namespace"),
    "#": (
        *("class", "interface", "struct", "union", "enum", "trait", "type", "object", "record", "protocol"),
        *("extension", "impl", "annotation"),
    ),
    "().": ("function", "method", "constructor"),
    "(declared).": ("prototype",),
    ".": ("field", "property", "constant", "variable", "enum_member", "lambda"),
    "!": ("macro",),
}
SUFFIXES: Mapping[str, Suffix] = {kind: suffix for suffix, kinds in _OF_SUFFIX.items() for kind in kinds}
"""Every kind of definition that a query file may name."""

REOPENED = frozenset({"impl", "extension"})
"""Kinds that add to a type which is defined elsewhere, and carry its name."""

_PLAIN = re.compile(r"[\w+\-$<>]+")
_BETWEEN_PARTS = re.compile(r"::|\.|\\")


def is_type(kind: str) -> bool:
    return SUFFIXES.get(kind) == "#"


def piece(kind: str, name: str, container: str | None, bases: tuple[str, ...]) -> tuple[str, str]:
    """A definition's own part of the descriptor, before and behind the place where a repeated one has its number."""
    if kind in REOPENED:
        return f"{kind}#[{_escaped(name)}]" + "".join(f"[{_escaped(base)}]" for base in bases), ""
    parts = [_escaped(part) for part in _BETWEEN_PARTS.split(container) if part] if container else []
    around = "".join(f"{part}/" for part in parts[:-1]) + "".join(f"{part}#" for part in parts[-1:])
    return around + _escaped(name), SUFFIXES[kind]


class Descriptors:
    """Gives descriptors in the order of the definitions; a repeated one is numbered as SCIP does."""

    def __init__(self) -> None:
        self._taken: set[str] = {""}
        self._repeats: dict[str, int] = {}

    def unique(self, around: str, own: str, suffix: str) -> str:
        first = f"{around}{own}{suffix}"
        if first not in self._taken:
            self._taken.add(first)
            return first
        number = self._repeats.get(first, 0)
        while True:
            number += 1
            ending = "." if suffix.endswith(").") else suffix
            candidate = f"{around}{own}(+{number}){ending}"
            if candidate not in self._taken:
                self._repeats[first] = number
                self._taken.add(candidate)
                return candidate


def _escaped(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else "`" + name.replace("`", "``") + "`"
