"""Control flow within one definition: from statement to statement, from its entry to its exit.

Points of the flow are the entry (the definition itself), its statements, handlers and cases in the order of the walk's
events, and the exit. A compound statement stands for its head: the test, the next item, the subject. A nested
definition is one statement here and has a flow of its own; the first edge of each flow is labelled `entry`.

A `finally` block is one block, whichever way it is entered, and is left in every way that leads into it. Inside `try`
each statement that may raise has an edge labelled `exception` to where that leads; outside, only what is raised on
purpose leaves. A `with` block is taken not to swallow what is raised in it.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from lakehouse_assets.extract.python.rows import Rows

Ends = list[tuple[int, str]]
"""Points that lead on to whatever comes next, each with the label of that edge."""
Jumps = list[tuple[int, str, bool]]
"""The same for points that jump, and whether they only might, by raising what is not seen."""
Way = Literal["return", "break", "continue", "exception"]

_WAYS: tuple[Way, ...] = ("return", "break", "continue", "exception")


@dataclass(slots=True)
class _Loop:
    head: int
    breaks: Ends = field(default_factory=list)


@dataclass(slots=True)
class _Handlers:
    raised: Jumps = field(default_factory=list)


@dataclass(slots=True)
class _Finally:
    entries: Jumps = field(default_factory=list)
    ways: dict[Way, bool] = field(default_factory=dict)
    """How the block is left when it is through, and whether only by what might be raised."""


class Flow:
    """The flow of one definition. Point 0 is its entry, `exit` its exit; edge i leads from sources[i] to targets[i]."""

    def __init__(self, rows: Rows) -> None:
        self.points: list[Any] = [rows.node]
        self.sources: list[int] = []
        self.targets: list[int] = []
        self.labels: list[str] = []
        self.implied: set[int] = set()
        """Edges that are taken only if something raises that is not seen to: control dependence leaves them out."""
        self.handled: list[tuple[int, int]] = []
        """Each `try` and its first handler: what control dependence has in their place."""
        self.branches = False
        """Whether there is more than one way through."""
        self._around: list[_Loop | _Handlers | _Finally] = []
        self._guards = 0
        self._exits: Jumps = []
        self._edges: set[tuple[int, int, str]] = set()
        body = [rows.node.body] if rows.node.__class__ is ast.Lambda else rows.node.body
        if any(statement.__class__ in _COMPOUND for statement in body[:-1]) or not _is_plain_end(body):
            ends = self._block(body, [(0, "entry")])
            self.exit = len(self.points)
            self._connect(ends, self.exit)
            self._land(self._exits, self.exit)
        else:  # most bodies are a straight line
            self.points += body
            self.exit = len(self.points)
            self.sources += range(self.exit)
            self.targets += range(1, self.exit + 1)
            self.labels += ["entry", *[""] * len(body)]

    def _edge(self, source: int, target: int, label: str, implied: bool = False) -> None:
        edge = (source, target, label)
        if edge not in self._edges:
            self._edges.add(edge)
            if implied:
                self.implied.add(len(self.sources))
            self.sources.append(source)
            self.targets.append(target)
            self.labels.append(label)

    def _connect(self, ends: Ends, target: int) -> None:
        for source, label in ends:
            self._edge(source, target, label)

    def _land(self, jumps: Jumps, target: int) -> None:
        for source, label, implied in jumps:
            self._edge(source, target, label, implied)

    def _point(self, node: Any, ends: Ends) -> int:
        at = len(self.points)
        self.points.append(node)
        for source, label in ends:
            self._edge(source, at, label)
        return at

    def _block(self, statements: list[Any], ends: Ends) -> Ends:
        for statement in statements:
            at = self._point(statement, ends)
            if self._guards and _may_raise(statement):
                self._jump("exception", at, "exception", implied=True)
            lead_on = _COMPOUND.get(statement.__class__)
            ends = [(at, "")] if lead_on is None else lead_on(self, statement, at)
        return ends

    def _jump(self, way: Way, source: int, label: str, implied: bool = False) -> None:
        """Leads to the nearest construct around that takes this way, else to the exit."""
        for around in reversed(self._around):
            match around:
                case _Finally():
                    around.entries.append((source, label, implied))
                    around.ways[way] = implied and around.ways.get(way, True)
                    return
                case _Handlers() if way == "exception":
                    around.raised.append((source, label, implied))
                    return
                case _Loop() if way == "break":
                    around.breaks.append((source, label))
                    return
                case _Loop() if way == "continue":
                    self._edge(source, around.head, label)
                    return
                case _:
                    pass  # not its business
        self._exits.append((source, label, implied))

    def _if(self, node: Any, at: int) -> Ends:
        self.branches = True
        return self._block(node.body, [(at, "true")]) + self._block(node.orelse, [(at, "false")])

    def _loop(self, node: Any, at: int) -> Ends:
        self.branches = True
        loop = _Loop(at)
        self._around.append(loop)
        self._connect(self._block(node.body, [(at, "true")]), at)
        self._around.pop()
        endless = node.__class__ is ast.While and node.test.__class__ is ast.Constant and bool(node.test.value)
        return self._block(node.orelse, [] if endless else [(at, "false")]) + loop.breaks

    def _with(self, node: Any, at: int) -> Ends:
        return self._block(node.body, [(at, "")])

    def _match(self, node: Any, at: int) -> Ends:
        self.branches = True
        ends: Ends = []
        unmatched: Ends = [(at, "")]
        for case in node.cases:
            here = self._point(case, unmatched)
            ends += self._block(case.body, [(here, "true")])
            unmatched = [] if _takes_anything(case) else [(here, "false")]
        return ends + unmatched

    def _try(self, node: Any, at: int) -> Ends:
        self.branches = True
        last = _Finally() if node.finalbody else None
        if last is not None:
            self._around.append(last)
            self._guards += 1
        handlers = _Handlers()
        if node.handlers:
            self._around.append(handlers)
            self._guards += 1
        ends = self._block(node.body, [(at, "")])
        if node.handlers:
            self._around.pop()
            self._guards -= 1
        handled = self._handlers(node, at, handlers.raised)
        ends = self._block(node.orelse, ends) + handled
        if last is None:
            return ends
        self._around.pop()
        self._guards -= 1
        return self._finally(node.finalbody, last, ends)

    def _handlers(self, node: Any, at: int, raised: Jumps) -> Ends:
        each_may_run = node.__class__ is not ast.Try  # `except*`: what one leaves over goes to the next
        ends: Ends = []
        unmatched: Ends = []
        for handler in node.handlers:
            here = self._point(handler, unmatched)
            if handler is node.handlers[0]:
                self._land(raised, here)
                self.handled.append((at, here))
            after = self._block(handler.body, [(here, "true")])
            unmatched = [] if handler.type is None else [(here, "false")]
            if each_may_run and handler is not node.handlers[-1]:
                unmatched += after
            else:
                ends += after
        for source, _ in unmatched:
            self._jump("exception", source, "exception", implied=True)
        return ends

    def _finally(self, body: list[Any], last: _Finally, ends: Ends) -> Ends:
        first = len(self.points)
        after = self._block(body, ends)
        self._land(last.entries, first)
        for way in _WAYS:
            if way in last.ways:
                for source, label in after:
                    self._jump(way, source, label or way, implied=last.ways[way])
        return after if ends else []

    def _return(self, node: Any, at: int) -> Ends:
        self._jump("return", at, "")
        return []

    def _raise(self, node: Any, at: int) -> Ends:
        self._jump("exception", at, "exception")
        return []

    def _assert(self, node: Any, at: int) -> Ends:
        self.branches = True
        self._jump("exception", at, "false")
        return [(at, "true")]

    def _break(self, node: Any, at: int) -> Ends:
        self._jump("break", at, "")
        return []

    def _continue(self, node: Any, at: int) -> Ends:
        self._jump("continue", at, "")
        return []


_COMPOUND: dict[type, Callable[[Flow, Any, int], Ends]] = {
    ast.If: Flow._if,
    ast.While: Flow._loop,
    ast.For: Flow._loop,
    ast.AsyncFor: Flow._loop,
    ast.With: Flow._with,
    ast.AsyncWith: Flow._with,
    ast.Match: Flow._match,
    ast.Try: Flow._try,
    ast.TryStar: Flow._try,
    ast.Return: Flow._return,
    ast.Raise: Flow._raise,
    ast.Assert: Flow._assert,
    ast.Break: Flow._break,
    ast.Continue: Flow._continue,
}

_NEVER_RAISE = frozenset(
    {ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal, ast.Try, ast.TryStar, ast.Raise, ast.Assert}
)
_PLAIN_VALUES = frozenset({ast.Constant, ast.Name})


def _is_plain_end(body: list[Any]) -> bool:
    return not body or body[-1].__class__ is ast.Return or body[-1].__class__ not in _COMPOUND


def _may_raise(node: Any) -> bool:
    """Whether a statement's own expressions can raise, as far as its shape tells; what raises on purpose is apart."""
    cls = node.__class__
    if cls in _NEVER_RAISE:
        return False
    if cls is ast.Return:
        return node.value is not None and node.value.__class__ not in _PLAIN_VALUES
    if cls is ast.Assign:
        return node.value.__class__ not in _PLAIN_VALUES or node.targets[0].__class__ is not ast.Name
    return True


def _takes_anything(case: Any) -> bool:
    pattern = case.pattern
    return case.guard is None and pattern.__class__ is ast.MatchAs and pattern.pattern is None
