"""The table of definitions: names, headers, what they document, and hashes by which a change is told from a move."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lakehouse_assets.extract.facts import DEF_COLUMNS, Columns, no_rows
from lakehouse_assets.extract.treesitter.captures import DefinitionMark, Marks
from lakehouse_assets.extract.treesitter.descriptors import REOPENED, Descriptors, is_type, piece
from lakehouse_assets.extract.treesitter.documentation import Documentation
from lakehouse_assets.extract.treesitter.hashes import fingerprints
from lakehouse_assets.extract.treesitter.positions import Positions
from lakehouse_assets.extract.treesitter.walk import Walked

LONGEST_SIGNATURE = 400
LONGEST_HEADER = 4000
"""Bytes that are looked at for it."""
_SPACE = re.compile(r"\s+")
_LEADS_OVER = re.compile(r"\s*(?:=>|->|[{:=;])\s*$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """A definition's place among the others."""

    kind: str
    name: str
    parent: int
    container: str | None
    """Names around it, or the type that it says it belongs to."""


MODULE = Named(kind="module", name="<module>", parent=-1, container=None)


def name_definitions(walked: Walked, marks: Marks, *, functions_stay: bool) -> tuple[list[Named], list[str]]:
    """Kind, name and descriptor of each definition. `functions_stay`: one in a class is not called a method."""
    named = [MODULE]
    descriptors = [""]
    unique = Descriptors()
    nameless: dict[tuple[int, str], int] = {}
    for row, node_id in zip(walked.definition_rows[1:], walked.definition_ids[1:], strict=True):
        mark = marks.definitions[node_id]
        parent = walked.d[walked.parent[row]]
        around = named[parent]
        kind = mark.kind
        if kind == "function" and not functions_stay and (is_type(around.kind) or mark.container):
            kind = "constructor" if mark.name == around.name else "method"
        name = symbol = mark.name
        if not name or not symbol:
            count = nameless[parent, kind] = nameless.get((parent, kind), 0) + 1
            name, symbol = f"<{kind}>", f"<{kind}{count}>"
        elif kind in REOPENED:
            name = name.partition("<")[0].strip() or name
        own, suffix = piece(kind, symbol, mark.container, mark.bases)
        descriptors.append(unique.unique(descriptors[parent], own, suffix))
        outside = around.name if parent else None
        container = mark.container or ".".join(part for part in (around.container, outside) if part) or None
        named.append(Named(kind=kind, name=name, parent=parent, container=container))
    return named, descriptors


def definition_columns(
    raw: bytes,
    lines: int,
    walked: Walked,
    marks: Marks,
    placed: Positions,
    named: Sequence[Named],
    descriptors: list[str],
    documentation: Documentation,
) -> Columns:
    columns = no_rows(DEF_COLUMNS)
    rows = np.asarray(walked.definition_rows, dtype=np.int64)
    columns["parent"] = [one.parent for one in named]
    columns["kind"] = [one.kind for one in named]
    columns["name"] = [one.name for one in named]
    columns["descriptor"] = descriptors
    columns["line"] = (placed.line[rows] + 1).tolist()
    columns["col"] = placed.column[rows].tolist()
    columns["end_line"] = (placed.end_line[rows] + 1).tolist()
    columns["end_col"] = placed.end_column[rows].tolist()
    # The file begins with its first byte and ends with its last line, whatever the tree's root does.
    for name, value in (("line", 1), ("col", 0), ("end_line", max(lines, 1)), ("end_col", 0)):
        columns[name][0] = value
    found = [marks.definitions.get(node_id) if d else None for d, node_id in enumerate(walked.definition_ids)]
    columns["signature"] = [None if mark is None else _signature(mark, documentation) for mark in found]
    columns["docstring"] = [
        documentation.of(walked.start[row], marks.doc if mark is None else mark.doc)
        for row, mark in zip(walked.definition_rows, found, strict=True)
    ]
    for header, body in fingerprints(raw, walked, marks.doc, found, named):
        columns["signature_hash"].append(header)
        columns["body_hash"].append(body)
    return columns


def _signature(mark: DefinitionMark, documentation: Documentation) -> str:
    """The header as written, on one line, without comments and what only leads over to the body."""
    end = min(mark.body_start, mark.header_start + LONGEST_HEADER)
    text = documentation.without_comments(mark.header_start, end).decode("utf-8", "replace")
    return _LEADS_OVER.sub("", _SPACE.sub(" ", text).strip())[:LONGEST_SIGNATURE]
