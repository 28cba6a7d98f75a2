"""The walk's rows as the columns of `Facts`: definitions, nodes, syntax edges and properties."""

import ast
import itertools
from typing import Any

from lakehouse_assets.extract.facts import DEF_COLUMNS, EDGE_COLUMNS, NODE_COLUMNS, PROP_COLUMNS, Columns, no_rows
from lakehouse_assets.extract.python.rows import Rows, number_of, parameters
from lakehouse_assets.extract.python.texts import LONGEST_TEXT, expression, signature, storable

KINDS: dict[type, str] = {
    ast.Module: "module",
    ast.ClassDef: "class",
    ast.FunctionDef: "function",
    ast.AsyncFunctionDef: "function",
    ast.Lambda: "lambda",
}
MODULE_NAME = "<module>"
LAMBDA_NAME = "<lambda>"


def node_columns(definitions: list[Rows]) -> Columns:
    columns = no_rows(NODE_COLUMNS)
    for rows in definitions:
        count = len(rows.kinds)
        columns["d"] += [rows.d] * count
        columns["n"] += range(count)
        columns["kind"] += rows.kinds
        columns["name"] += rows.names
        columns["anchor"] += [0] * count if rows.d else _module_anchors(rows)
        columns["line"] += rows.lines
        columns["col"] += rows.cols
        columns["end_line"] += rows.end_lines
        columns["end_col"] += rows.end_cols
    return columns


def _module_anchors(rows: Rows) -> list[int]:
    """Statements of the module have absolute lines; what is in one counts from it."""
    anchors = [0] * len(rows.kinds)
    for start, end in itertools.pairwise([*rows.statements, len(rows.kinds) - 1]):
        anchors[start + 1 : end] = [start] * (end - start - 1)
    return anchors


def syntax_edges(definitions: list[Rows]) -> Columns:
    """AST, a tree over all nodes, and CONTAINS, the tree of definitions."""
    columns = no_rows(EDGE_COLUMNS)
    for rows in definitions:
        count = len(rows.kinds)
        d = rows.d
        columns["src_d"] += [rows.parent] + [d] * (count - 1)
        columns["src_n"] += rows.sources
        columns["dst_d"] += [d] * count
        columns["dst_n"] += range(count)
        columns["label"] += rows.labels
    for column in columns.values():
        del column[:1]  # nothing leads to the module
    columns["kind"] += ["AST"] * len(columns["label"])
    nested = definitions[1:]
    columns["kind"] += ["CONTAINS"] * len(nested)
    columns["src_d"] += [rows.parent for rows in nested]
    columns["dst_d"] += [rows.d for rows in nested]
    columns["label"] += [""] * len(nested)
    for name in ("src_n", "dst_n"):
        columns[name] += [0] * len(nested)
    return columns


def definition_columns(definitions: list[Rows], lines: int) -> Columns:
    columns = no_rows(DEF_COLUMNS)
    descriptors = _descriptors(definitions)
    for rows, descriptor in zip(definitions, descriptors, strict=True):
        node = rows.node
        is_module = rows.parent < 0
        columns["parent"].append(rows.parent)
        columns["kind"].append(KINDS[node.__class__])
        columns["name"].append(MODULE_NAME if is_module else getattr(node, "name", LAMBDA_NAME))
        columns["descriptor"].append(descriptor)
        columns["line"].append(1 if is_module else node.lineno)
        columns["col"].append(0 if is_module else node.col_offset)
        columns["end_line"].append(max(lines, 1) if is_module else node.end_lineno)
        columns["end_col"].append(0 if is_module else node.end_col_offset)
        columns["signature"].append(signature(node))
        columns["signature_hash"].append(rows.signature_hash)
        columns["body_hash"].append(rows.body_hash)
        columns["docstring"].append(None if rows.docstring is None else storable(rows.docstring))
    return columns


def _descriptors(definitions: list[Rows]) -> list[str]:
    """SCIP's notation from the module on: `Class#`, `function().`, a second one of the name as `function(+1).`."""
    found: list[str] = [""]
    met: dict[tuple[int, str, bool], int] = {}
    for rows in definitions[1:]:
        node: Any = rows.node
        is_class = node.__class__ is ast.ClassDef
        is_lambda = node.__class__ is ast.Lambda
        name = LAMBDA_NAME if is_lambda else node.name
        earlier = met.get((rows.parent, name, is_class), 0)
        met[rows.parent, name, is_class] = earlier + 1
        again = f"(+{earlier})" if earlier else ""
        if is_lambda:
            own = f"<lambda{earlier + 1}>."
        else:
            plain = name if name.isascii() else f"`{name}`"
            own = f"{plain}{again}#" if is_class else f"{plain}{again or '()'}."
        found.append(found[rows.parent] + own)
    return found


def prop_columns(definitions: list[Rows]) -> Columns:
    columns = no_rows(PROP_COLUMNS)

    def add(d: int, n: int, name: str, value: str) -> None:
        columns["d"].append(d)
        columns["n"].append(n)
        columns["name"].append(name)
        columns["value"].append(value)

    for rows in definitions:
        node, d = rows.node, rows.d
        for decorator in getattr(node, "decorator_list", ()):
            add(decorator.d, number_of(decorator), "decorator", expression(decorator))
        if node.__class__ is ast.AsyncFunctionDef:
            add(d, 0, "is_async", "true")
        if rows.yields:
            add(d, 0, "is_generator", "true")
        if node.__class__ is ast.ClassDef and node.bases:
            add(d, 0, "bases", ", ".join([expression(base) for base in node.bases]))
        if getattr(node, "returns", None) is not None:
            add(d, 0, "returns", expression(node.returns))
        for parameter in parameters(node):
            if parameter.annotation is not None:
                add(d, number_of(parameter), "annotation", expression(parameter.annotation))
        if "AnnAssign" in rows.kinds:  # quicker than to look at every event
            for event in rows.events:
                if event.__class__ is ast.AnnAssign:
                    add(d, event.n, "annotation", expression(event.annotation))
        for n, value in rows.long_literals:
            add(d, n, "literal", storable(repr(value[:LONGEST_TEXT])))
    return columns
