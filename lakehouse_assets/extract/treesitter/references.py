"""Which definition or binding of the same file a name stands for, by its spelling and the definitions around it.

A definition's parameters and locals hide what is outside it. Blocks are not told apart, nor are overloads: these edges
are labelled as matched by name.
"""

from collections.abc import Sequence

from lakehouse_assets.extract.treesitter.captures import Marks
from lakehouse_assets.extract.treesitter.definitions import Named
from lakehouse_assets.extract.treesitter.descriptors import REOPENED, is_type
from lakehouse_assets.extract.treesitter.grammars import Grammar
from lakehouse_assets.extract.treesitter.walk import Walked

NOT_IN_SCOPE = REOPENED | {"constructor"}
"""Definitions whose name is another's."""

BY_NAME = "name"
"""Label of an edge that rests on equal spelling."""


def references(walked: Walked, marks: Marks, named: Sequence[Named], grammar: Grammar) -> list[tuple[int, int, int]]:
    """Rows of identifiers, each with the definition and the number of the node that it stands for."""
    scopes, hidden = _scopes(walked, marks, named, grammar)
    bound = {name for scope in scopes for name in scope}
    identifier_kinds = {number for number, kind in grammar.kinds.items() if kind in grammar.identifiers}
    parents = [one.parent for one in named]
    found: list[tuple[int, int, int]] = []
    for row, (kind, name) in enumerate(zip(walked.kind, walked.name, strict=True)):
        if kind not in identifier_kinds or name not in bound or row in hidden:
            continue
        if grammar.not_references and _is_member(walked, row, grammar):
            continue
        d = walked.d[row]
        while d >= 0:
            target = scopes[d].get(name)
            if target is not None:
                found.append((row, *target))
                break
            d = parents[d]
    return found


def _is_member(walked: Walked, row: int, grammar: Grammar) -> bool:
    """Whether what stands there is a name in something else. What it is a name in comes first among its siblings."""
    parent = walked.parent[row]
    place = (grammar.kinds[walked.kind[parent]], grammar.fields[walked.field_id[row] or 0])
    if place not in grammar.not_references:
        return False
    match grammar.not_references[place]:
        case None:
            return True
        case "first":
            return row != parent + 1
        case beside:
            return grammar.fields[walked.field_id[parent + 1] or 0] == beside


def _scopes(
    walked: Walked, marks: Marks, named: Sequence[Named], grammar: Grammar
) -> tuple[list[dict[str, tuple[int, int]]], set[int]]:
    """For each definition the names that are bound in it, and the rows that bind names and so refer to nothing."""
    scopes: list[dict[str, tuple[int, int]]] = [{} for _ in named]
    defined = set(walked.definition_ids)
    rows = ((walked.row_of.get(node_id), owners) for node_id, owners in marks.names.items())
    hidden = {row for row, owners in rows if row is not None and not owners.isdisjoint(defined)}
    # What is only announced gives way to the definition itself.
    for d in sorted(range(len(named)), key=lambda d: named[d].kind == "prototype"):
        one, node_id = named[d], walked.definition_ids[d]
        if d == 0 or marks.definitions[node_id].container or one.kind in NOT_IN_SCOPE:
            continue
        if grammar.members_in_scope or not is_type(named[one.parent].kind):
            scopes[one.parent].setdefault(one.name, (d, 0))
    for node_id, name in marks.locals.items():
        row = walked.row_of.get(node_id)
        if row is not None and row not in hidden:
            hidden.add(row)
            scopes[walked.d[row]].setdefault(name, (walked.d[row], walked.n[row]))
    return scopes, hidden
