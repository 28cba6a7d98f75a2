"""One pass over a tree, in the order of the text, into columns.

Invariant: a cursor and a stack of row numbers, so depth costs no recursion; per node a few appends of small integers.
What can be computed for all nodes at once (lines, columns, anchors) is left to `positions`.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from tree_sitter import Tree

from lakehouse_assets.extract.treesitter.grammars import ERROR_KIND, Grammar

LONGEST_NAME = 120
"""Bytes of a leaf that are kept as its name; a longer literal has none."""

FUNCTIONS = frozenset({"function", "method", "constructor", "lambda"})
ONLY_OUTSIDE_FUNCTIONS = frozenset({"variable", "constant", "prototype"})

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
    wanted_kinds: Container[int],
    max_nodes: int,
) -> Walked:
    """The rows of `tree`. `definitions` are the nodes that open one, with its kind; the rows of `wanted` are asked for.

    A variable or a prototype is a definition only outside functions.
    """
    out = Walked()
    kinds, comments, operators, operations = grammar.kinds, grammar.comments, grammar.operators, grammar.operations
    kind_column, start_column, end_column, parent_column = out.kind, out.start, out.end, out.parent
    field_column, d_column, n_column, name_column = out.field_id, out.d, out.n, out.name
    token_d, token_start, token_end, token_depth = out.token_d, out.token_start, out.token_end, out.token_depth
    row_of, errors = out.row_of, out.errors
    counts = [0]
    in_function = [False]
    known: dict[bytes, str] = {}
    cursor = tree.walk()
    descend, advance, ascend = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
    stack: list[int] = []
    parent = -1
    d = 0
    while True:
        node = cursor.node
        assert node is not None  # a cursor of a tree is always on a node
        kind = node.kind_id
        if kind in comments:
            out.comments.append((node.start_byte, node.end_byte))
        else:
            start, end = node.start_byte, node.end_byte
            is_named = kind in kinds
            row = parent
            if is_named:
                row = len(kind_column)
                if row >= max_nodes:
                    out.is_whole = False
                    return out
                if kind in wanted_kinds and (node_id := node.id) in wanted:
                    row_of[node_id] = row
                    defined = definitions.get(node_id) if row else None
                    if defined is not None and not (in_function[d] and defined in ONLY_OUTSIDE_FUNCTIONS):
                        d = len(counts)
                        counts.append(0)
                        in_function.append(defined in FUNCTIONS)
                        out.definition_rows.append(row)
                        out.definition_ids.append(node_id)
                        out.definition_depths.append(len(stack))
                if not row:
                    out.definition_rows.append(0)
                    out.definition_ids.append(node.id)
                    out.definition_depths.append(0)
                kind_column.append(kind)
                start_column.append(start)
                end_column.append(end)
                parent_column.append(parent)
                field_column.append(cursor.field_id)
                d_column.append(d)
                n_column.append(counts[d])
                counts[d] += 1
                name_column.append(None)
                if kind == ERROR_KIND and len(errors) < MOST_ERRORS:
                    errors.append((start, "syntax error"))
            if descend():
                stack.append(row)
                parent = row
                continue
            if start == end:
                if node.is_missing and len(errors) < MOST_ERRORS:
                    errors.append((start, f"missing {node.type}"))
            else:
                token_d.append(d)
                token_start.append(start)
                token_end.append(end)
                token_depth.append(len(stack))
                if is_named:
                    if end - start <= LONGEST_NAME:
                        text = raw[start:end]
                        name = known.get(text)
                        if name is None:
                            name = known[text] = text.decode("utf-8", "replace")
                        name_column[row] = name
                elif kind in operators and kind_column[parent] in operations and name_column[parent] is None:
                    name_column[parent] = operators[kind]
        while not advance():
            if not ascend():
                return out
            stack.pop()
            parent = stack[-1] if stack else -1
        d = d_column[parent] if parent >= 0 else 0
