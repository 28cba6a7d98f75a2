"""The columns of `Facts`, from a tree or, where reading ended early, from nothing but the text."""

import numpy as np
from tree_sitter import Tree

from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.extract.facts import DEF_COLUMNS, NODE_COLUMNS, PROP_COLUMNS, Columns, Facts
from lakehouse_assets.extract.treesitter.captures import Marks, capture
from lakehouse_assets.extract.treesitter.definitions import MODULE, Named, definition_columns, name_definitions
from lakehouse_assets.extract.treesitter.documentation import Documentation
from lakehouse_assets.extract.treesitter.grammars import Grammar
from lakehouse_assets.extract.treesitter.parsing import Limits
from lakehouse_assets.extract.treesitter.positions import Lines, Positions, positions
from lakehouse_assets.extract.treesitter.references import BY_NAME, references
from lakehouse_assets.extract.treesitter.summary import bases_of, summarize
from lakehouse_assets.extract.treesitter.walk import Walked, walk


def facts_of_tree(raw: bytes, tree: Tree, grammar: Grammar, limits: Limits) -> Facts:
    root = tree.root_node
    marks, kinds, is_incomplete = capture(root, raw, grammar, limits.seconds_for(len(raw)))
    definitions = {node_id: mark.kind for node_id, mark in marks.definitions.items()}
    walked = walk(tree, raw, grammar, definitions, marks.ids(), kinds, limits.max_nodes)
    lines = Lines(raw)
    placed = positions(walked, lines)
    named, descriptors = name_definitions(walked, marks, functions_stay=grammar.language == "Python")
    line_count = _line_count(raw)
    documentation = Documentation(raw, walked.comments, grammar)
    diagnostics = [_told(lines, at, message) for at, message in walked.errors]
    if is_incomplete:
        diagnostics.append("1:0: too much at once for the queries: definitions, calls or imports may be missing")
    if not walked.is_whole:
        diagnostics.append(f"1:0: cut off: only the first {limits.max_nodes} nodes are read")
    if root.has_error and not walked.errors:  # inside a token, where no node tells of it
        diagnostics.append("1:0: syntax error")
    is_partial = root.has_error or is_incomplete
    return Facts(
        language=grammar.language,
        parser="tree-sitter",
        status="cut_off" if not walked.is_whole else "partial" if is_partial else "ok",
        diagnostics=tuple(diagnostics),
        lines=line_count,
        defs=definition_columns(raw, line_count, walked, marks, placed, named, descriptors, documentation),
        nodes=_nodes(walked, placed, named, grammar),
        edges=_edges(walked, marks, named, grammar),
        props=_props(walked, marks),
        summary=summarize(walked, marks, named, grammar) | {"descriptors": descriptors},
    )


def _nodes(walked: Walked, placed: Positions, named: list[Named], grammar: Grammar) -> Columns:
    """By definition, and within one by number."""
    names = walked.name
    for row, one in zip(walked.definition_rows[1:], named[1:], strict=True):
        names[row] = one.name
    d = np.asarray(walked.d, dtype=np.int64)
    order = np.argsort(d, kind="stable")
    rows = order.tolist()
    kinds, kind_of = grammar.kinds, walked.kind
    return {
        "d": d[order].tolist(),
        "n": np.asarray(walked.n, dtype=np.int64)[order].tolist(),
        "kind": [kinds[kind_of[row]] for row in rows],
        "name": [names[row] for row in rows],
        "anchor": placed.anchor[order].tolist(),
        "line": (placed.line - placed.anchor_line)[order].tolist(),
        "col": placed.column[order].tolist(),
        "end_line": (placed.end_line - placed.anchor_line)[order].tolist(),
        "end_col": placed.end_column[order].tolist(),
    }


def _edges(walked: Walked, marks: Marks, named: list[Named], grammar: Grammar) -> Columns:
    """AST edges carry the grammar's field; REF edges rest on spelling and say so."""
    referring = references(walked, marks, named, grammar)
    syntax, contained, refs = len(walked.d) - 1, len(named) - 1, len(referring)
    d, n = np.asarray(walked.d, dtype=np.int64), np.asarray(walked.n, dtype=np.int64)
    parent = np.asarray(walked.parent[1:], dtype=np.int64)
    rows = [row for row, _, _ in referring]
    fields = grammar.fields
    return {
        "kind": ["AST"] * syntax + ["CONTAINS"] * contained + ["REF"] * refs,
        "src_d": d[parent].tolist() + [one.parent for one in named[1:]] + d[rows].tolist(),
        "src_n": n[parent].tolist() + [0] * contained + n[rows].tolist(),
        "dst_d": walked.d[1:] + list(range(1, len(named))) + [target for _, target, _ in referring],
        "dst_n": walked.n[1:] + [0] * contained + [number for _, _, number in referring],
        "label": [fields[field or 0] for field in walked.field_id[1:]] + [""] * contained + [BY_NAME] * refs,
    }


def _props(walked: Walked, marks: Marks) -> Columns:
    """What a definition extends is one value, joined; a decorator's text is its own node's."""
    found = [(d, 0, "bases", ", ".join(bases)) for d, bases in bases_of(walked, marks)]
    for row, text in sorted((row, text) for i, text in marks.decorators.items() if (row := walked.row_of.get(i))):
        found.append((walked.d[row], walked.n[row], "decorator", text))
    return {name: [values[at] for values in found] for at, name in enumerate(PROP_COLUMNS)}


def cut_off(raw: bytes, grammar: Grammar, why: str) -> Facts:
    """Nothing but the file itself: what was not read is not guessed at."""
    lines = _line_count(raw)
    empty = fingerprint(())
    definition = (-1, MODULE.kind, MODULE.name, "", 1, 0, max(lines, 1), 0, None, empty, empty, None)
    return Facts(
        language=grammar.language,
        parser="none",
        status="cut_off",
        diagnostics=(f"1:0: cut off: {why}",),
        lines=lines,
        defs={name: [value] for name, value in zip(DEF_COLUMNS, definition, strict=True)},
        nodes={name: [value] for name, value in zip(NODE_COLUMNS, (0, 0, "module", None, 0, 0, 0, 0, 0), strict=True)},
        summary=summarize(Walked(definition_ids=[0]), Marks(), [MODULE], grammar) | {"descriptors": [""]},
    )


def _told(lines: Lines, offset: int, message: str) -> str:
    line, column = lines.one(offset)
    return f"{line + 1}:{column}: {message}"


def _line_count(raw: bytes) -> int:
    ends = raw.count(b"\n") + raw.count(b"\r") - raw.count(b"\r\n")
    return ends + (not raw.endswith((b"\n", b"\r")) and bool(raw))
