"""Edges of a small source as text, by line: `2 -true-> 3`. Entry and exit of the function are `in` and `out`."""

import textwrap

from lakehouse_assets.extract.facts import Facts
from lakehouse_assets.extract.python.extractor import extract_python

Place = tuple[int, int]


def facts_of(source: str) -> Facts:
    facts = extract_python(textwrap.dedent(source))
    assert facts.status == "ok", facts.diagnostics
    return facts


def lines_of(facts: Facts) -> dict[Place, int]:
    """The absolute line of every node, as a reader of the tables finds it."""
    nodes = facts.nodes
    found: dict[Place, int] = {}
    for d, n, anchor, line in zip(nodes["d"], nodes["n"], nodes["anchor"], nodes["line"], strict=True):
        base = facts.defs["line"][d] if d else found[0, anchor] if anchor else 0
        found[d, n] = base + line
    return found


def edges_of(facts: Facts, kind: str) -> list[tuple[Place, Place, str]]:
    columns = facts.edges
    return [
        ((src_d, src_n), (dst_d, dst_n), label)
        for found, src_d, src_n, dst_d, dst_n, label in zip(*columns.values(), strict=True)
        if found == kind
    ]


def drawn(source: str, kind: str, d: int = 1) -> set[str]:
    """Edges of a kind that leave nodes of definition d, or statements right in it, for a source that begins with it."""
    facts = facts_of(source)
    lines = lines_of(facts)
    last = dict(zip(facts.nodes["d"], facts.nodes["n"], strict=True))
    inside = {number for number, parent in enumerate(facts.defs["parent"]) if parent == d}

    def place(at: Place) -> str:
        if at == (d, 0):
            return "in"
        return "out" if at == (d, last[d]) else str(lines[at])

    def own(at: Place, label: str) -> bool:
        # A definition is left by its entry's edge into its own flow, and by others in the flow around it.
        if at[0] == d:
            return at[1] != 0 or label == "entry" or kind != "CFG"
        return at[0] in inside and at[1] == 0 and label != "entry"

    return {
        f"{place(source)} {f'-{label}' if label and label != 'entry' else ''}-> {place(target)}"
        for source, target, label in edges_of(facts, kind)
        if own(source, label)
    }


def named(source: str, kind: str) -> set[str]:
    """Edges of a kind as `name@line -> name@line`."""
    facts = facts_of(source)
    lines = lines_of(facts)
    names = dict(zip(zip(facts.nodes["d"], facts.nodes["n"], strict=True), facts.nodes["name"], strict=True))
    return {f"{names[a]}@{lines[a]} -> {names[b]}@{lines[b]}" for a, b, _ in edges_of(facts, kind)}
