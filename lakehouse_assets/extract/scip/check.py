"""The rules that an index has to keep to be of use, as Sourcegraph's `scip lint` has them, and a few more.

Two passes over the documents, one at a time; what is kept between them are the symbols.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from lakehouse_assets.extract.scip.index import Entry, Index
from lakehouse_assets.extract.scip.model import Document, Symbol
from lakehouse_assets.extract.scip.names import DEFINITION
from lakehouse_assets.extract.scip.symbols import fault, is_local

Rule = Literal[
    "path",
    "document twice",
    "symbol grammar",
    "symbol told twice",
    "symbol defined twice",
    "symbol unknown",
    "relationship",
    "range",
    "order",
    "occurrence twice",
]

TextOf = Callable[[str], str | None]
"""The text of a document by its path, where it is at hand."""

_LINE_END = re.compile("\r\n|\r|\n")


@dataclass(frozen=True, kw_only=True)
class Problem:
    rule: Rule
    path: str
    what: str


@dataclass(frozen=True, kw_only=True)
class _Known:
    """Symbols that the index tells of, by what tells of them."""

    external: set[str]
    inside: set[str]


def check_index(index: Index, text_of: TextOf = lambda path: None) -> Iterator[Problem]:
    """Every problem, in the order of paths."""
    known = _Known(external=set(), inside=set())
    for symbol in index.external_symbols():
        if symbol.symbol in known.external:
            yield Problem(rule="symbol told twice", path=index.external_path, what=symbol.symbol)
        known.external.add(symbol.symbol)
    entries = [entry for entry in index.entries() if entry.documents]
    defined: set[str] = set()
    for entry in entries:
        yield from _first_look(index, entry, known, defined)
    for entry in entries:
        document = index.document(entry, as_written=True)
        told = {symbol.symbol for symbol in document.symbols}
        yield from _references(document, known, told)
        yield from _ranges(document, document.text or text_of(entry.path))
        for symbol in document.symbols:
            yield from _relationships(entry.path, symbol, known)
    for symbol in index.external_symbols():
        yield from _relationships(index.external_path, symbol, known)


def _first_look(index: Index, entry: Entry, known: _Known, defined: set[str]) -> Iterator[Problem]:
    path = entry.path
    if path.startswith("/") or any(part in ("", ".", "..") for part in path.split("/")):
        yield Problem(rule="path", path=path, what="it is not relative to the root and canonical")
    if len(entry.documents) > 1:
        yield Problem(rule="document twice", path=path, what=f"it comes {len(entry.documents)} times")
    document = index.document(entry)
    told: set[str] = set()
    for each in document.symbols:
        symbol = each.symbol
        if symbol in told or symbol in known.external:
            yield Problem(rule="symbol told twice", path=path, what=symbol)
        told.add(symbol)
        if not is_local(symbol):
            known.inside.add(symbol)
    seen: set[str] = set()
    own: set[str] = set()
    for occurrence in document.occurrences:
        symbol = occurrence.symbol
        if symbol and symbol not in seen:
            seen.add(symbol)
            wrong = fault(symbol)
            if wrong:
                yield Problem(rule="symbol grammar", path=path, what=f"{symbol}: {wrong}")
        if occurrence.roles & DEFINITION:
            places = own if is_local(symbol) else defined
            if symbol in places:
                yield Problem(rule="symbol defined twice", path=path, what=symbol)
            places.add(symbol)


def _references(document: Document, known: _Known, told: set[str]) -> Iterator[Problem]:
    """Every symbol that stands somewhere is told of; a local one in the same document."""
    before: set[tuple[object, ...]] = set()
    missing: set[str] = set()
    for occurrence in document.occurrences:
        symbol = occurrence.symbol
        is_told = symbol in told or (not is_local(symbol) and (symbol in known.inside or symbol in known.external))
        if not is_told and symbol not in missing:
            missing.add(symbol)
            yield Problem(rule="symbol unknown", path=document.path, what=symbol or "an occurrence without a symbol")
        key = (occurrence.range, symbol, occurrence.roles)
        if key in before:
            yield Problem(rule="occurrence twice", path=document.path, what=f"{symbol} at {occurrence.range}")
        before.add(key)


def _ranges(document: Document, text: str | None) -> Iterator[Problem]:
    """Occurrences stand in the order of where they begin, and within the text if it is at hand."""
    last: tuple[int, ...] = (0, 0)
    widths = [_width(line, document.position_encoding) for line in _LINE_END.split(text)] if text is not None else None
    for occurrence in document.occurrences:
        start, end = occurrence.range[:2], occurrence.range[2:]
        if start < last:
            yield Problem(rule="order", path=document.path, what=f"{occurrence.range} comes behind {last}")
        last = start
        if widths is not None and not (
            end[0] < len(widths) and start[1] <= widths[start[0]] and end[1] <= widths[end[0]]
        ):
            what = f"{occurrence.symbol} at {occurrence.range} is not within the text"
            yield Problem(rule="range", path=document.path, what=what)


def _width(line: str, encoding: int) -> int:
    match encoding:
        case 1:
            return len(line.encode("utf-8", "surrogatepass"))
        case 3:
            return len(line)
        case _:  # what an index leaves open is UTF-16, as in the editors' protocol
            return len(line.encode("utf-16-le", "surrogatepass")) // 2


def _relationships(path: str, symbol: Symbol, known: _Known) -> Iterator[Problem]:
    related: set[str] = set()
    for each in symbol.relationships:
        if not any(each[1:]):
            yield Problem(rule="relationship", path=path, what=f"{symbol.symbol} to {each.symbol} has no flag")
        if not is_local(each.symbol) and each.symbol not in known.inside and each.symbol not in known.external:
            yield Problem(rule="relationship", path=path, what=f"{symbol.symbol} to {each.symbol}, which is unknown")
        if each.symbol in related:
            yield Problem(rule="relationship", path=path, what=f"{symbol.symbol} to {each.symbol} comes twice")
        related.add(each.symbol)
