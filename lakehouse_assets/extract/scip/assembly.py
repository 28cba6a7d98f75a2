"""A file of the graph as a document of an index: definitions, references, and how symbols relate."""

from collections.abc import Sequence
from typing import NamedTuple

from lakehouse_assets.extract.scip.model import Document, Occurrence, Range, Relationship, Symbol
from lakehouse_assets.extract.scip.names import DEFINITION, IMPORT, KIND_NUMBERS, READ
from lakehouse_assets.extract.scip.places import Places, bound_name

_UTF_8 = 1
_LANGUAGES = {"C++": "CPP", "C#": "CSharp", "Objective-C": "Objective_C", "Shell": "ShellScript"}
_KINDS = {"module": "Module", "prototype": "Function", "lambda": "Function", "impl": "Type", "record": "Struct"}


class Defined(NamedTuple):
    """A definition; a variable has no documentation."""

    symbol: str
    kind: str
    name: str
    whole: Range
    around: str = ""
    """Kind of the definition around it; empty for a file."""
    signature: str | None = None
    docstring: str | None = None


class Bound(NamedTuple):
    """A node that binds a variable."""

    kind: str
    name: str
    whole: Range


class Referred(NamedTuple):
    """A node that refers to something: to a symbol, or to a binding in the same file."""

    edge: str
    kind: str
    name: str | None
    whole: Range
    symbol: str | None
    binding: Bound | None
    is_import: bool = False
    """Whether it leads to an import in the same file, which may be told of as what was imported, too."""


class Related(NamedTuple):
    """A symbol of the file that implements, or inherits from, another."""

    symbol: str
    target: str
    is_override: bool


def document_of(
    path: str,
    language: str | None,
    text: str,
    definitions: Sequence[Defined],
    variables: Sequence[tuple[str, Bound]],
    references: Sequence[Referred],
    relations: Sequence[Related],
) -> Document:
    places = Places(text)
    spoken = _LANGUAGES.get(language or "", language or "")
    related = _relationships(relations)
    symbols = [_symbol(each, spoken, related.get(each.symbol, ())) for each in definitions]
    defined = [_definition(each, places) for each in definitions]
    for symbol, bound in variables:
        defined.append(Occurrence(places.of_binding(*bound), symbol, DEFINITION))
        symbols.append(Symbol(symbol, KIND_NUMBERS["Variable"], bound_name(bound.kind, bound.name)))
    local_symbols = _locals(references)
    for bound, symbol in local_symbols.items():
        defined.append(Occurrence(places.of_binding(*bound), symbol, DEFINITION))
        symbols.append(Symbol(symbol, KIND_NUMBERS["Variable"], bound_name(bound.kind, bound.name)))
    referred = _references(references, local_symbols, places)
    return Document(
        path=path,
        language=spoken,
        position_encoding=_UTF_8,
        occurrences=sorted({*defined, *referred}, key=_order),
        symbols=symbols,
    )


def _locals(references: Sequence[Referred]) -> dict[Bound, str]:
    """A symbol for each binding that is known in the file only, numbered in the order of the text."""
    bindings = {each.binding for each in references if each.symbol is None and each.binding is not None}
    ordered = sorted(bindings, key=lambda bound: (bound.whole, bound))
    return {bound: f"local {number}" for number, bound in enumerate(ordered)}


def _references(references: Sequence[Referred], local_symbols: dict[Bound, str], places: Places) -> list[Occurrence]:
    """Where a place is known to mean more than the import that a name came in by, the import is left out."""
    found: list[tuple[Occurrence, bool]] = []
    for edge, kind, name, whole, symbol, binding, is_import in references:
        target = symbol or (local_symbols[binding] if binding is not None else None)
        if target is not None:
            shown = name.partition(" as ")[0] if name and kind == "alias" else name
            role = IMPORT if edge == "IMPORT" else READ
            found.append((Occurrence(places.of_node(kind, shown, whole), target, role), is_import))
    known = {each.range for each, is_import in found if not is_import}
    return [each for each, is_import in found if not is_import or each.range not in known]


def _definition(each: Defined, places: Places) -> Occurrence:
    if not each.around:
        return Occurrence((0, 0, 0, 0), each.symbol, DEFINITION)
    place = places.of_definition(each.name, each.whole)
    return Occurrence(place, each.symbol, DEFINITION, enclosing_range=places.within(each.whole))


def _symbol(each: Defined, language: str, relationships: Sequence[Relationship]) -> Symbol:
    kind = "Method" if each.kind == "function" and each.around == "class" else _KINDS.get(each.kind)
    named = kind or "".join(word.capitalize() for word in each.kind.split("_"))
    return Symbol(
        each.symbol,
        KIND_NUMBERS.get(named, 0),
        each.name,
        (each.docstring,) if each.docstring else (),
        f"{each.name}{each.signature}" if each.signature else "",
        language if each.signature else "",
        "",
        tuple(relationships),
    )


def _relationships(relations: Sequence[Related]) -> dict[str, list[Relationship]]:
    """One relationship for each pair: a method that overrides is found with what it overrides, a class is not."""
    overrides: dict[tuple[str, str], bool] = {}
    for symbol, target, is_override in sorted(relations):
        overrides[symbol, target] = overrides.get((symbol, target), False) or is_override
    found: dict[str, list[Relationship]] = {}
    for (symbol, target), is_override in overrides.items():
        if symbol != target:
            related = Relationship(target, is_reference=is_override, is_implementation=True)
            found.setdefault(symbol, []).append(related)
    return found


def _order(each: Occurrence) -> tuple[object, ...]:
    """By where they begin; what is around others comes before them."""
    start_line, start, end_line, end = each.range
    return start_line, start, -end_line, -end, each.symbol, each.roles
