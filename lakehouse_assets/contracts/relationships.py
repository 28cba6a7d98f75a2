"""The kinds of edges, declared: from which inputs, by which rule, owned by whom, how sure.

A new kind of edge is a new specification here and the rule that its source applies: `extract` for what one file
says by itself, `link` for what needs others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Confidence = Literal["certain", "likely", "guess"]


@dataclass(frozen=True, kw_only=True)
class Relationship:
    """One kind of edge. `method` and `confidence` hold where the rule does not say otherwise for an edge."""

    kind: str
    source: Literal["extract", "link"]
    inputs: tuple[str, ...]
    rule: str
    owner: Literal["source file", "both files"]
    method: str
    confidence: Confidence


def _local(kind: str, rule: str, method: str = "syntax") -> Relationship:
    return Relationship(
        kind=kind,
        source="extract",
        inputs=("extracts",),
        rule=rule,
        owner="source file",
        method=method,
        confidence="certain",
    )


def _linked(kind: str, rule: str, *inputs: str, confidence: Confidence = "certain") -> Relationship:
    return Relationship(
        kind=kind, source="link", inputs=inputs, rule=rule, owner="both files", method="import", confidence=confidence
    )


RELATIONSHIPS: Mapping[str, Relationship] = MappingProxyType(
    {
        spec.kind: spec
        for spec in (
            _local("AST", "a piece of syntax holds another, in the field that the label names"),
            _local("CONTAINS", "a definition holds another"),
            _local("CFG", "control may pass from one statement to another", "control flow"),
            _local("CDG", "whether a statement runs is decided by another", "control dependence"),
            _local("DFG", "a value assigned here may be read there, within one definition", "reaching definitions"),
            _local("REF", "a name refers to what binds it; across files to what was imported", "scope"),
            _linked("IMPORT", "an import leads to a module or a name in it", "module_index", "exported_defs"),
            _linked("INHERITS", "a class names another as its base", "imports_resolved"),
            _linked("OVERRIDES", "a method replaces the one that the resolution order finds next", "links"),
            _linked("CALL", "a call may run a function or make an instance", "imports_resolved", confidence="likely"),
        )
    }
)
