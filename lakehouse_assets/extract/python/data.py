"""Data flow: which bindings of a variable a use of it may see, within one definition.

Reaching definitions over the control flow. Sets of bindings are bits of integers, kept per stretch of points without
branches, so that cost follows the branches and not the statements. A binding that is not sure to have happened (a
loop's target when the loop ends, whatever was at work when something was raised) leaves the earlier ones in sight.
"""

import ast
from typing import Any

from lakehouse_assets.extract.python.control import Flow
from lakehouse_assets.extract.python.edges import Edges
from lakehouse_assets.extract.python.limits import Deadline
from lakehouse_assets.extract.python.names import BIND, MAY_BIND, USE, Act

_BEFORE, _AFTER, _EITHER = range(3)
"""What an edge carries: the state before the bindings of its point, behind them, or what is in either."""

_LOOPS = (ast.For, ast.AsyncFor)
_MOST_BITS = 2048


def add_data_flow(flow: Flow, acts: list[list[Act]], found: Edges, deadline: Deadline) -> None:
    """Adds the definition's edges from bindings to uses."""
    if not flow.branches:
        _straight(acts, found)
        return
    groups = _groups(acts)
    if not groups:
        return
    stretches = _stretches(flow)
    for names in groups:
        chosen = acts if len(groups) == 1 else [[act for act in point if act[1] in names] for point in acts]
        _Reaching(flow, chosen, stretches).add_edges(found, deadline)


def _groups(acts: list[list[Act]]) -> list[set[str]]:
    """Names that are used, so many at a time that their bindings make no large numbers: there may be one per line."""
    bindings: dict[str, int] = {}
    used: set[str] = set()
    for point in acts:
        for act, name, _ in point:
            if act == USE:
                used.add(name)
            elif act >= BIND:
                bindings[name] = bindings.get(name, 0) + 1
    groups: list[set[str]] = []
    room = 0
    for name, count in bindings.items():
        if name in used:
            if count > room:
                groups.append(set())
                room = _MOST_BITS
            groups[-1].add(name)
            room -= count
    return groups


def _straight(acts: list[list[Act]], found: Edges) -> None:
    """One way through: a use sees the last binding, and those that may have come behind it."""
    current: dict[str, list[Any]] = {}
    for point in acts:
        for act, name, node in point:
            if act == USE:
                for binding in current.get(name, ()):
                    found.sources.append(binding)
                    found.targets.append(node)
                    found.labels.append(name)
            elif act == BIND:
                current[name] = [node]
            elif act == MAY_BIND:
                current[name] = [*current.get(name, ()), node]
            else:
                current.pop(name, None)


class _Reaching:
    """Bindings are numbered in the order of the acts: number i is bit i."""

    def __init__(self, flow: Flow, acts: list[list[Act]], stretches: "Stretches") -> None:
        self._flow = flow
        self._acts = acts
        self._bindings: list[Any] = []
        self._of: dict[str, int] = {}
        """All bindings of a variable, as bits."""
        for point in acts:
            for act, name, node in point:
                if act >= BIND:
                    self._of[name] = self._of.get(name, 0) | 1 << len(self._bindings)
                    self._bindings.append(node)
        self._starts, self._arrivals = stretches
        self._ends = [*self._starts[1:], flow.exit]

    def add_edges(self, found: Edges, deadline: Deadline) -> None:
        before, after, entering = self._solve(deadline)
        points = self._flow.points
        bit = 1
        for number, start in enumerate(self._starts):
            deadline.check_edges(len(found.sources))
            state = entering[number]
            for at in range(start, self._ends[number]):
                seen = state
                if at == start and isinstance(points[at], _LOOPS):
                    # What is looped over is evaluated once: nothing that the loop binds gets there.
                    arrivals = [arrival for arrival in self._arrivals[number] if arrival[2] < at]
                    seen = _joined(arrivals, before, after)
                for act, name, node in self._acts[at]:
                    if act == USE:
                        self._see(seen & self._of.get(name, 0), node, name, found)
                        continue
                    if act != MAY_BIND:
                        state &= ~self._of.get(name, 0)
                    if act >= BIND:
                        state |= bit
                        bit <<= 1
                    seen = state

    def _see(self, bindings: int, use: Any, name: str, found: Edges) -> None:
        while bindings:
            lowest = bindings & -bindings
            found.sources.append(self._bindings[lowest.bit_length() - 1])
            found.targets.append(use)
            found.labels.append(name)
            bindings ^= lowest

    def _solve(self, deadline: Deadline) -> tuple[list[int], list[int], list[int]]:
        """States before and behind each stretch's last point, and where it is entered: the least fixpoint."""
        effects = self._effects()
        count = len(self._starts)
        before, after, entering = [0] * count, [0] * count, [0] * count
        first = changed = True
        while changed:
            changed = False
            deadline.check()
            for number, (kept_before, made_before, kept_after, made_after) in enumerate(effects):
                state = _joined(self._arrivals[number], before, after)
                if first or state != entering[number]:
                    changed = True
                    entering[number] = state
                    before[number] = state & kept_before | made_before
                    after[number] = state & kept_after | made_after
            first = False
        return before, after, entering

    def _effects(self) -> list[tuple[int, int, int, int]]:
        """Of each stretch up to its last point, and of all of it: the bindings that stay, and those that are made."""
        found: list[tuple[int, int, int, int]] = []
        bit = 1
        for number, start in enumerate(self._starts):
            kept, made = -1, 0
            kept_before, made_before = kept, made
            for at in range(start, self._ends[number]):
                kept_before, made_before = kept, made
                for act, name, _ in self._acts[at]:
                    if act == USE:
                        continue
                    if act != MAY_BIND:
                        others = ~self._of.get(name, 0)
                        kept &= others
                        made &= others
                    if act >= BIND:
                        made |= bit
                        bit <<= 1
            found.append((kept_before, made_before, kept, made))
        return found


Arrival = tuple[int, int, int]
"""An edge into a stretch: the stretch that it comes from, what it carries, and its point."""
Stretches = tuple[list[int], list[list[Arrival]]]
"""First points of stretches that are run through from start to end, and the edges into each."""


def _stretches(flow: Flow) -> Stretches:
    count = flow.exit
    ways_in = [0] * (count + 1)
    ways_out = [0] * (count + 1)
    follows = [False] * (count + 1)
    for source, target in zip(flow.sources, flow.targets, strict=True):
        ways_in[target] += 1
        ways_out[source] += 1
        if target == source + 1:
            follows[target] = True
    starts = [at for at in range(count) if not (at and follows[at] and ways_in[at] == 1 and ways_out[at - 1] == 1)]
    stretch_of = [0] * (count + 1)
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else count
        stretch_of[start:end] = [number] * (end - start)
    arrivals: list[list[Arrival]] = [[] for _ in starts]
    for source, target, label in zip(flow.sources, flow.targets, flow.labels, strict=True):
        number = stretch_of[target]
        if target != count and starts[number] == target:
            arrivals[number].append((stretch_of[source], _carried(flow.points[source], label), source))
    return starts, arrivals


def _carried(point: Any, label: str) -> int:
    if label == "false":
        if isinstance(point, (*_LOOPS, ast.ExceptHandler)):
            return _BEFORE
        return _EITHER if isinstance(point, ast.match_case) else _AFTER
    return _EITHER if label == "exception" else _AFTER


def _joined(arrivals: list[Arrival], before: list[int], after: list[int]) -> int:
    state = 0
    for stretch, carried, _ in arrivals:
        if carried != _BEFORE:
            state |= after[stretch]
        if carried != _AFTER:
            state |= before[stretch]
    return state
