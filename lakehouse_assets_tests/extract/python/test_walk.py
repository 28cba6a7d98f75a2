"""Numbers and places of nodes: stable under edits elsewhere, and true to the text."""

import argparse
import ast
import dataclasses
import inspect
import json.decoder
from types import ModuleType

import pytest

from lakehouse_assets.extract.facts import Facts
from lakehouse_assets.extract.python.control import Flow
from lakehouse_assets.extract.python.extractor import extract_python
from lakehouse_assets.extract.python.limits import Deadline
from lakehouse_assets.extract.python.names import Names
from lakehouse_assets.extract.python.scopes import build_scopes
from lakehouse_assets.extract.python.walk import Walk
from lakehouse_assets_tests.extract.python.drawings import lines_of
from lakehouse_assets_tests.extract.python.invariants import check_facts

REAL = [argparse, dataclasses, inspect, json.decoder]


def rows_of(facts: Facts) -> dict[tuple[int, int], tuple]:
    return {(row[0], row[1]): row[2:] for row in zip(*facts.nodes.values(), strict=True)}


@pytest.mark.parametrize("module", REAL, ids=lambda module: module.__name__)
def test_facts_of_real_files_hold_together(module: ModuleType):
    facts = extract_python(inspect.getsource(module))
    check_facts(facts)
    assert facts.status == "ok"


@pytest.mark.parametrize("module", REAL, ids=lambda module: module.__name__)
def test_a_comment_on_top_changes_only_statements_of_the_module(module: ModuleType):
    source = inspect.getsource(module)
    before, after = extract_python(source), extract_python("# one line more\n" + source)
    assert before.edges == after.edges
    assert before.props == after.props
    rows_after = rows_of(after)
    moved = {at for at, row in rows_of(before).items() if rows_after[at] != row}
    top = {at for at, (_, _, anchor, *_) in rows_of(before).items() if at[0] == 0 and anchor == 0}
    assert moved
    assert moved <= top
    assert len(moved) <= len(ast.parse(source).body)


@pytest.mark.parametrize("module", REAL, ids=lambda module: module.__name__)
def test_every_node_stands_where_the_parser_says(module: ModuleType):
    source = inspect.getsource(module)
    facts = extract_python(source)
    lines = lines_of(facts)
    found = {
        (kind, lines[d, n], col)
        for d, n, kind, col in zip(*(facts.nodes[name] for name in ("d", "n", "kind", "col")), strict=True)
    }
    expected = {
        (node.__class__.__name__, node.lineno, node.col_offset)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.expr | ast.stmt | ast.arg | ast.alias | ast.keyword | ast.ExceptHandler)
    }
    assert expected <= found
    count = sum(
        not isinstance(node, ast.expr_context | ast.operator | ast.boolop | ast.unaryop | ast.cmpop)
        for node in ast.walk(ast.parse(source))
    )
    assert len(facts.nodes["n"]) == count + len(facts.defs["kind"])  # each definition has an exit


@pytest.mark.parametrize("module", REAL, ids=lambda module: module.__name__)
def test_points_of_the_flow_are_the_events_of_the_walk(module: ModuleType):
    """Names are given to points by counting: both passes must meet them in the same order."""
    tree = ast.parse(inspect.getsource(module))
    definitions = Walk(tree, Deadline(60), 10**9).definitions
    names = Names(build_scopes(tree), definitions)
    for rows in definitions:
        flow = Flow(rows)
        marks = [event for event in rows.events if isinstance(event, ast.stmt | ast.ExceptHandler | ast.match_case)]
        if not isinstance(rows.node, ast.Lambda):
            assert flow.points[1:] == marks
        assert len(names.acts(rows)) == len(flow.points)


def test_an_edit_in_one_definition_leaves_the_numbers_in_others_alone():
    before = extract_python("def f():\n    return 1\n\ndef g(x):\n    return x + 1\n")
    after = extract_python("def f():\n    print(2)\n    return 1\n\ndef g(x):\n    return x + 1\n")
    g = before.defs["name"].index("g")
    assert {k: v for k, v in rows_of(before).items() if k[0] == g} == {
        k: v for k, v in rows_of(after).items() if k[0] == g
    }


def test_constants_keep_their_values():
    """CPython takes the attributes `n` and `s` of a constant for its value."""
    tree = ast.parse("x = ['a', 1, None]\ndef f(y='b'): return 2.5")
    text = ast.unparse(tree)
    Walk(tree, Deadline(60), 10**9)
    assert ast.unparse(tree) == text
