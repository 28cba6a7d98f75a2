"""One pass over a tree, in the order of the text, into columns.

Invariant: a cursor and a stack of row numbers, so depth costs no recursion; per node a few appends of small integers.
What can be computed for all nodes at once (lines, columns, anchors) is left to `positions`.
"""

from collections.abc import Container, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import numpy as np
from tree_sitter import Tree

from lakehouse_assets.extract.treesitter.grammars import ERROR_KIND, Grammar

MOST_LEVELS = 64
"""Definitions in each other; deeper ones are ordinary nodes. Names grow with the level, and hostile text with both."""

LONGEST_NAME = 120
"""Bytes of a leaf that are kept as its name; a longer literal has none."""

FUNCTIONS = frozenset({"function", "method", "constructor", "lambda"})
ONLY_OUTSIDE_FUNCTIONS = frozenset({"variable", "constant", "prototype"})

_NAMED, _MARKED, _COMMENT = 1, 2, 3
"""What a node is by its kind: named, named and possibly asked for, or a comment; anything else is a token."""

MOST_ERRORS = 20
"""Errors told of one file: more of them tell nothing new."""


@dataclass(kw_only=True, slots=True)
class Walked:
    """Named nodes by row, and tokens. A row's parent is a row; a definition's row is the first with its `d`."""

    kind: list[int] = field(default_factory=list)
    start: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    field_id: list[int | None] = field(default_factory=list)
    d: list[int] = field(default_factory=list)
    n: list[int] = field(default_factory=list)
    name: list[str | None] = field(default_factory=list)
    definition_rows: list[int] = field(default_factory=list)
    definition_ids: list[int] = field(default_factory=list)
    definition_depths: list[int] = field(default_factory=list)
    token_d: list[int] = field(default_factory=list)
    token_start: list[int] = field(default_factory=list)
    token_end: list[int] = field(default_factory=list)
    token_depth: list[int] = field(default_factory=list)
    comments: list[tuple[int, int]] = field(default_factory=list)
    row_of: dict[int, int] = field(default_factory=dict)
    """Rows of the nodes that were asked for."""
    errors: list[tuple[int, str]] = field(default_factory=list)
    """Byte and message."""
    is_whole: bool = True


def walk(
    tree: Tree,
    raw: bytes,
    grammar: Grammar,
    definitions: Mapping[int, str],
    wanted: Container[int],
    wanted_kinds: AbstractSet[int],
    max_nodes: int,
) -> Walked:
    """The rows of `tree`. `definitions` are the nodes that open one, with its kind; the rows of `wanted` are asked for.

    A variable or a prototype is a definition only outside functions.
    """
    out = Walked()
    operators, operations = grammar.operators, grammar.operations
    kind_column, start_column, end_column, parent_column = out.kind, out.start, out.end, out.parent
    field_column, d_column, name_column = out.field_id, out.d, out.name
    token_d, token_start, token_end, token_depth = out.token_d, out.token_start, out.token_end, out.token_depth
    roles = dict.fromkeys(grammar.kinds, _NAMED) | dict.fromkeys(wanted_kinds & grammar.kinds.keys(), _MARKED)
    roles |= dict.fromkeys(grammar.comments, _COMMENT)
    in_function: list[bool] = []
    levels: list[int] = []
    known: dict[bytes, str] = {}
    cursor = tree.walk()
    descend, advance, ascend = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
    stack: list[int] = []
    rows = d = 0
    parent = -1

    def define(node_id: int, kind: str, level: int) -> int:
        out.definition_rows.append(rows)
        out.definition_ids.append(node_id)
        out.definition_depths.append(len(stack))
        in_function.append(kind in FUNCTIONS)
        levels.append(level)
        return len(in_function) - 1

    while True:
        node = cursor.node
        assert node is not None  # a cursor of a tree is always on a node
        kind, start, end = node.kind_id, node.start_byte, node.end_byte
        role = roles.get(kind)
        if role == _COMMENT:
            out.comments.append((start, end))
        else:
            row = parent
            if role is not None:
                if rows >= max_nodes:
                    out.is_whole = False
                    break
                if parent < 0:
                    define(node.id, "module", 0)
                elif role == _MARKED and (node_id := node.id) in wanted:
                    out.row_of[node_id] = rows
                    defined = definitions.get(node_id)
                    if (
                        defined is not None
                        and levels[d] < MOST_LEVELS
                        and not (in_function[d] and defined in ONLY_OUTSIDE_FUNCTIONS)
                    ):
                        d = define(node_id, defined, levels[d] + 1)
                row = rows
                rows += 1
                kind_column.append(kind)
                start_column.append(start)
                end_column.append(end)
                parent_column.append(parent)
                field_column.append(cursor.field_id)
                d_column.append(d)
                name_column.append(None)
                if kind == ERROR_KIND and len(out.errors) < MOST_ERRORS:
                    out.errors.append((start, "syntax error"))
            if descend():
                stack.append(row)
                parent = row
                continue
            if start == end:
                if node.is_missing and len(out.errors) < MOST_ERRORS:
                    out.errors.append((start, f"missing {node.type}"))
            else:
                token_d.append(d)
                token_start.append(start)
                token_end.append(end)
                token_depth.append(len(stack))
                if role is None:
                    if kind in operators and kind_column[parent] in operations and name_column[parent] is None:
                        name_column[parent] = operators[kind]
                elif end - start <= LONGEST_NAME:
                    text = raw[start:end]
                    name = known.get(text)
                    if name is None:
                        name = known[text] = text.decode("utf-8", "replace")
                    name_column[row] = name
        while not advance():
            if not ascend():
                break
            stack.pop()
        if not stack:
            break
        parent = stack[-1]
        d = d_column[parent]
    out.n = _numbers(out.d, len(in_function))
    return out


def _numbers(d_column: list[int], definitions: int) -> list[int]:
    """Each row's number within its definition: its place among the rows of it."""
    d = np.asarray(d_column, dtype=np.int64)
    order = np.argsort(d, kind="stable")
    firsts = np.searchsorted(d[order], np.arange(definitions))
    numbers = np.empty(len(d), dtype=np.int64)
    numbers[order] = np.arange(len(d)) - firsts[d[order]]
    return numbers.tolist()
