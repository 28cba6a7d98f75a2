"""Control dependence: small cases by hand, and all of them against the definition taken literally."""

import ast

import pytest

from lakehouse_assets.extract.python.control import Flow
from lakehouse_assets.extract.python.dependence import dependences
from lakehouse_assets.extract.python.limits import Deadline
from lakehouse_assets.extract.python.walk import Walk
from lakehouse_assets_tests.extract.python.drawings import drawn
from lakehouse_assets_tests.extract.python.test_control import CASES as FLOWS

CASES = {
    "nothing decides over a straight line": ("def f():\n    a\n    return b", ""),
    "a branch decides over what is in it": (
        "def f():\n    if a:\n        b\n    else:\n        c\n    d",
        "2 -true-> 3, 2 -false-> 5",
    ),
    "an early return decides over the rest": (
        "def f():\n    if a:\n        return b\n    c\n    d",
        "2 -true-> 3, 2 -false-> 4, 2 -false-> 5",
    ),
    "a loop decides over its body and over itself": (
        "def f():\n    while a:\n        b\n    c",
        "2 -true-> 3, 2 -true-> 2",
    ),
    "a handler depends on its try, the body of the try and the rest don't": (
        "def f():\n    try:\n        a()\n        b()\n    except C:\n        d\n    e",
        "2 -exception-> 5, 2 -exception-> 6",
    ),
    "an assertion decides over the rest": ("def f():\n    assert a\n    b", "2 -true-> 3"),
    "a loop without an end is no obstacle": (
        "def f():\n    while True:\n        if a:\n            b",
        "3 -true-> 4",
    ),
    "a case decides over its block and over the next case": (
        "def f():\n    match a:\n        case 1:\n            b\n        case _:\n            c",
        "3 -true-> 4, 3 -false-> 5, 3 -false-> 6",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_branch_decides_over_what_depends_on_it(name: str):
    source, expected = CASES[name]
    assert drawn(source, "CDG") == set(filter(None, expected.split(", ")))


@pytest.mark.parametrize("name", FLOWS)
def test_dependence_is_what_its_definition_says(name: str):
    """B depends on a way out of A if every way on from there passes B, but not every way on from A does."""
    tree = ast.parse(FLOWS[name][0])
    flow = Flow(Walk(tree, Deadline(60), 10_000).definitions[1])
    ways: list[list[tuple[int, str]]] = [[] for _ in range(flow.exit + 1)]
    for at, (source, target, label) in enumerate(zip(flow.sources, flow.targets, flow.labels, strict=True)):
        if at not in flow.implied:
            ways[source].append((target, label))
    for source, target in flow.handled:
        ways[source].append((target, "exception"))

    def passes(start: int, through: int) -> bool:
        """Whether every way from start to the exit passes `through`."""
        waiting, seen = [start], {start}
        while waiting:
            at = waiting.pop()
            if at == through:
                continue
            if at == flow.exit:
                return False
            fresh = {target for target, _ in ways[at]} - seen
            seen |= fresh
            waiting += fresh
        return True

    def can_end(start: int) -> bool:
        return not passes(start, -1)

    expected = {
        (source, point, label)
        for source in range(flow.exit)
        for target, label in ways[source]
        for point in range(flow.exit)
        if len(ways[source]) > 1
        and passes(target, point)
        and not (point != source and passes(source, point))
        and not (isinstance(flow.points[source], ast.Try | ast.TryStar) and not label)
    }
    assert all(can_end(point) for point in range(flow.exit)), "the definition is for flows that end"
    assert set(dependences(flow)) == expected
