"""Reaching definitions, drawn as binding@line -> use@line."""

import argparse
import ast
import dataclasses
import inspect
from types import ModuleType

import pytest

from lakehouse_assets.extract.python import data
from lakehouse_assets.extract.python.control import Flow
from lakehouse_assets.extract.python.edges import Edges
from lakehouse_assets.extract.python.limits import Deadline
from lakehouse_assets.extract.python.names import BIND, MAY_BIND, UNBIND, USE, Act, Names
from lakehouse_assets.extract.python.scopes import build_scopes
from lakehouse_assets.extract.python.walk import Walk
from lakehouse_assets_tests.extract.python.drawings import edges_of, facts_of, named

CASES = {
    "a use sees the last binding": (
        "def f():\n    x = 1\n    x = 2\n    g(x)",
        "x@3 -> x@4",
    ),
    "a parameter is a binding": ("def f(x, *y, **z):\n    g(x, y, z)", "x@1 -> x@2, y@1 -> y@2, z@1 -> z@2"),
    "after a branch a use sees both": (
        "def f(a):\n    x = 1\n    if a:\n        x = 2\n    g(x)",
        "a@1 -> a@3, x@2 -> x@5, x@4 -> x@5",
    ),
    "a loop's binding comes round": (
        "def f(a):\n    x = 1\n    while a:\n        g(x)\n        x = 2",
        "a@1 -> a@3, x@2 -> x@4, x@5 -> x@4",
    ),
    "a loop's target is bound in the loop, and maybe behind it": (
        "def f(a):\n    x = 1\n    for x in a:\n        g(x)\n    g(x)",
        "a@1 -> a@3, x@3 -> x@4, x@2 -> x@5, x@3 -> x@5",
    ),
    "what is looped over is evaluated once": (
        "def f(x):\n    for x in x:\n        x = 1",
        "x@1 -> x@2",
    ),
    "an augmented assignment uses and binds": (
        "def f():\n    x = 1\n    x += 2\n    g(x)",
        "x@2 -> x@3, x@3 -> x@4",
    ),
    "a value is evaluated before its target is bound": ("def f(x):\n    x = g(x)\n    g(x)", "x@1 -> x@2, x@2 -> x@3"),
    "del ends a binding": ("def f():\n    x = 1\n    del x\n    g(x)", "x@2 -> x@3"),
    "a handler sees what may have been bound when it was raised": (
        "def f():\n    x = 1\n    try:\n        x = g()\n    except E as e:\n        h(x, e)",
        "x@2 -> x@6, x@4 -> x@6, e@5 -> e@6",
    ),
    "finally sees what every way into it bound": (
        "def f(a):\n    x = 1\n    try:\n        if a:\n            x = 2\n            return\n        x = 3\n"
        "    finally:\n        g(x)",
        "a@1 -> a@4, x@2 -> x@9, x@5 -> x@9, x@7 -> x@9",
    ),
    "with, import, class and def bind": (
        "def f():\n    with a as x:\n        g(x)\n    import y.z as w, y\n    g(w, y)\n    class C: pass\n"
        "    def d(): pass\n    g(C, d)",
        "x@2 -> x@3, y.z as w@4 -> w@5, y@4 -> y@5, C@6 -> C@8, d@7 -> d@8",
    ),
    "a pattern's captures bind where the case matches": (
        "def f(a):\n    match a:\n        case [x, *y]:\n            g(x, y)\n"
        "        case {'k': x, **z}:\n            g(x, z)",
        "a@1 -> a@2, x@3 -> x@4, y@3 -> y@4, x@5 -> x@6, z@5 -> z@6",
    ),
    "a walrus binds in the middle of an expression": (
        "def f():\n    x = 1\n    if (x := g()) and x:\n        h(x)",
        "x@3 -> x@3, x@3 -> x@4",
    ),
    "a walrus that may be skipped leaves the earlier binding in sight": (
        "def f(a):\n    x = 1\n    a and (x := 2)\n    g(x)",
        "a@1 -> a@3, x@2 -> x@4, x@3 -> x@4",
    ),
    "a comprehension has variables of its own": (
        "def f(x):\n    y = [x for x in x if x]\n    g(x)",
        "x@1 -> x@2, x@2 -> x@2, x@1 -> x@3",
    ),
    "a walrus in a comprehension binds around it": (
        "def f(a):\n    [y := x for x in a]\n    g(y)",
        "a@1 -> a@2, x@2 -> x@2, y@2 -> y@3",
    ),
    "a default is evaluated where the function is defined": (
        "def f(x):\n    def g(y=x):\n        return y\n    return lambda z=x: z",
        "x@1 -> x@2, y@2 -> y@3, x@1 -> x@4, z@4 -> z@4",
    ),
    "a closure's variable has no single flow": (
        "def f(x):\n    def g():\n        return x\n    return g",
        "g@2 -> g@4",
    ),
    "a global is followed within the function": (
        "x = 0\ndef f():\n    global x\n    x = 1\n    g(x)",
        "x@4 -> x@5",
    ),
    "a module is a flow too": ("x = 1\nif x:\n    x = 2\ng(x)", "x@1 -> x@2, x@1 -> x@4, x@3 -> x@4"),
    "a class body is a flow of its own": ("x = 1\nclass C:\n    y = x\n    z = y", "y@3 -> y@4"),
    "an unbound name has no source": ("def f():\n    g(x)\n    x = 1", ""),
    "an async loop binds as a loop does": (
        "async def f(a):\n    async for x in a:\n        await x\n    async with a as y:\n        y",
        "a@1 -> a@2, x@2 -> x@3, a@1 -> a@4, y@4 -> y@5",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_use_sees_the_bindings_that_may_reach_it(name: str):
    source, expected = CASES[name]
    assert named(source, "DFG") == set(filter(None, expected.split(", ")))


def test_variables_solved_apart_give_the_same_as_together(monkeypatch: pytest.MonkeyPatch):
    source = inspect.getsource(dataclasses)
    together = edges_of(facts_of(source), "DFG")
    monkeypatch.setattr(data, "_MOST_BITS", 3)
    apart = edges_of(facts_of(source), "DFG")
    assert len(together) > 500
    assert sorted(apart) == sorted(together)


@pytest.mark.parametrize("module", [argparse, dataclasses, inspect], ids=lambda module: module.__name__)
def test_stretches_and_bits_give_what_sets_at_every_point_give(module: ModuleType):
    tree = ast.parse(inspect.getsource(module))
    definitions = Walk(tree, Deadline(60), 10**9).definitions
    names = Names(build_scopes(tree), definitions)
    for rows in definitions:
        flow, acts, found = Flow(rows), names.acts(rows), Edges()
        data.add_data_flow(flow, acts, found, Deadline(60))
        assert set(zip(found.sources, found.targets, strict=True)) == slowly(flow, acts)


State = frozenset[tuple[str, ast.AST]]


def slowly(flow: Flow, acts: list[list[Act]]) -> set[tuple[ast.AST, ast.AST]]:
    """Bindings and the uses that see them, by the textbook: states as sets at each point, until none changes."""
    before: list[State] = [frozenset()] * (flow.exit + 1)
    after: list[State] = [frozenset()] * (flow.exit + 1)
    edges = list(zip(flow.sources, flow.targets, flow.labels, strict=True))

    def arriving(at: int, only_from: range) -> State:
        states: list[State] = []
        for source, target, label in edges:
            if target == at and source in only_from:
                point = flow.points[source]
                kept = label == "false" and isinstance(point, ast.For | ast.AsyncFor | ast.ExceptHandler)
                torn = label == "exception" or (label == "false" and isinstance(point, ast.match_case))
                states += [before[source]] if kept else [before[source], after[source]] if torn else [after[source]]
        return frozenset().union(*states)

    while True:
        old = list(after), list(before)
        for at in range(flow.exit):
            state = before[at] = arriving(at, range(flow.exit))
            for act, name, node in acts[at]:
                if act in (BIND, UNBIND):
                    state = frozenset(each for each in state if each[0] != name)
                if act in (BIND, MAY_BIND):
                    state |= {(name, node)}
            after[at] = state
        if (after, before) == old:
            break
    seen: set[tuple[ast.AST, ast.AST]] = set()
    for at in range(flow.exit):
        is_loop = isinstance(flow.points[at], ast.For | ast.AsyncFor)
        state = arriving(at, range(at)) if is_loop else before[at]
        for act, name, node in acts[at]:
            if act == USE:
                seen |= {(binding, node) for bound, binding in state if bound == name}
            elif act != MAY_BIND:
                state = frozenset(each for each in state if each[0] != name)
            if act in (BIND, MAY_BIND):
                state |= {(name, node)}
    return seen
