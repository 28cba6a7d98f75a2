"""Control dependence: which branch decides whether a statement runs, by post-dominators of the control flow.

What might be raised anywhere in a `try` counts as one branch, at the `try`, which its handlers depend on; if every
statement that may raise were a branch, each would depend on the one before. Cost: near linear in the flow's edges.
"""

import ast

from lakehouse_assets.extract.python.control import Flow

Dependences = list[tuple[int, int, str]]
"""The deciding point, the point that depends on it, and the label of the branch."""


def dependences(flow: Flow) -> Dependences:
    if not flow.branches:
        return []
    exit_ = flow.exit
    following: list[list[tuple[int, str]]] = [[] for _ in range(exit_ + 1)]
    for at, (source, target, label) in enumerate(zip(flow.sources, flow.targets, flow.labels, strict=True)):
        if at not in flow.implied:
            following[source].append((target, label))
    for source, target in flow.handled:
        following[source].append((target, "exception"))
    loops = [at for at, point in enumerate(flow.points) if point.__class__ is ast.While]
    parents = _post_dominators(following, exit_, loops)
    found: dict[tuple[int, int, str], None] = {}
    for source, ways in enumerate(following):
        if len(ways) < 2:
            continue
        stop = parents[source]
        skip_plain = flow.points[source].__class__ in (ast.Try, ast.TryStar)
        for target, label in ways:
            if skip_plain and not label:
                continue  # the body of a `try` is entered whatever happens
            at = target
            while at != stop and at != exit_:
                found[source, at, label] = None
                at = parents[at]
    return list(found)


def _post_dominators(following: list[list[tuple[int, str]]], exit_: int, loops: list[int]) -> list[int]:
    """The nearest point that every way to the exit passes, for each point.

    Cooper, Harvey and Kennedy's iteration on the reversed flow. A loop without an end ends here at its head, so that
    every point has an answer.
    """
    preceding: list[list[int]] = [[] for _ in following]
    for source, ways in enumerate(following):
        for target, _ in ways:
            preceding[target].append(source)
    _end_loops(preceding, exit_, loops)
    order = _postorder(preceding, exit_)
    rank = [0] * len(following)
    for place, at in enumerate(order):
        rank[at] = place
    successors = [[target for target, _ in ways] for ways in following]
    for at in preceding[exit_]:
        if exit_ not in successors[at]:
            successors[at].append(exit_)
    parents = [-1] * len(following)
    parents[exit_] = exit_
    changed = True
    while changed:
        changed = False
        for at in reversed(order[:-1]):
            best = -1
            for other in successors[at]:
                if parents[other] < 0:
                    continue
                if best < 0:
                    best = other
                    continue
                while best != other:
                    while rank[best] < rank[other]:
                        best = parents[best]
                    while rank[other] < rank[best]:
                        other = parents[other]
            if parents[at] != best:
                parents[at] = best
                changed = True
    return parents


def _end_loops(preceding: list[list[int]], exit_: int, loops: list[int]) -> None:
    """Gives loops that no way leads out of one from their heads, outer loops first; then whatever else has none,

    such as a `finally` that is only reached if something is raised: last points first.
    """
    seen = [False] * len(preceding)
    _reach(preceding, exit_, seen)
    for at in (*loops, *range(exit_ - 1, -1, -1)):
        if not seen[at]:
            preceding[exit_].append(at)
            _reach(preceding, at, seen)


def _postorder(preceding: list[list[int]], exit_: int) -> list[int]:
    """Points from the exit backwards, each behind all that are found through it; the exit is last."""
    order: list[int] = []
    seen = [False] * len(preceding)
    seen[exit_] = True
    stack = [(exit_, iter(preceding[exit_]))]
    while stack:
        at, rest = stack[-1]
        for other in rest:
            if not seen[other]:
                seen[other] = True
                stack.append((other, iter(preceding[other])))
                break
        else:
            order.append(at)
            stack.pop()
    return order


def _reach(preceding: list[list[int]], start: int, seen: list[bool]) -> None:
    seen[start] = True
    waiting = [start]
    while waiting:
        for other in preceding[waiting.pop()]:
            if not seen[other]:
                seen[other] = True
                waiting.append(other)
