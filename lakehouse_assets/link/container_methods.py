"""What methods of lists, dicts and sets put in, take out and call."""

from lakehouse_assets.link.calls import Calls
from lakehouse_assets.link.engine import Constraint
from lakehouse_assets.link.imports import Thing
from lakehouse_assets.link.program import Arguments, At
from lakehouse_assets.link.uses import NO_ARGUMENTS

_STORING = frozenset({"append", "add", "appendleft", "insert"})
_TAKING = frozenset({"pop", "popleft", "popitem", "get", "setdefault", "__getitem__"})


class ContainerMethods(Calls):
    """Methods of containers by name."""

    def container_method(self, name: str, thing: Thing, to: int, at: At, arguments: Arguments) -> None:
        positional = arguments.positional
        last = positional[-1] if positional else -1
        if name in _STORING:
            self.store(thing, None, last)
        elif name in ("extend", "update", "union", "extendleft"):
            for source in positional:
                self.constrain(source, (merged_arrived, thing))
            for key, source in arguments.named:
                if key:
                    self.store(thing, f"s:{key}", source)
            if name == "union":
                self.put(to, thing)
        elif name in _TAKING:
            self._take(name, thing, to, positional)
        elif name in ("copy", "__iter__", "difference", "intersection"):
            self.put(to, thing)
        elif name == "values":
            self.collect(self.element(thing, "*"), "list", to, at)
        elif name == "items":
            pair = self.container(at, "tuple", "t")
            self.store(pair, "i:1", self.element(thing, "*"))
            made = self.new()
            self.put(made, pair)
            self.collect(made, "list", to, at)
        elif name == "sort":
            for key, source in arguments.named:
                if key == "key":
                    self.call_given(source, -1, at)

    def _take(self, name: str, thing: Thing, to: int, positional: list[int]) -> None:
        if not positional:
            self.load(thing, None, to)
            return
        key = self.new()
        self.connect(positional[0], key)
        self.constrain(key, (_key_for, thing, to, positional[1] if name == "setdefault" and positional[1:] else -1))
        if len(positional) > 1:
            self.connect(positional[1], to)

    def collect(self, source: int, kind: str, to: int, at: At) -> None:
        made = self.container(at, kind, "c")
        self.store(made, None, source)
        self.put(to, made)

    def call_given(self, source: int, to: int, at: At) -> None:
        """A function that was handed over is called from here."""
        self.constrain(source, (_given_arrived, to, at))


def merged_arrived(solver: ContainerMethods, constraint: Constraint, thing: Thing) -> None:
    """All of a container, or of what can be iterated, into another container."""
    into = constraint[1]
    if thing[0] == "l" and thing[4] == "dict":
        for key in solver.constant_keys.get(thing, ()):
            solver.store(into, key, solver.element(thing, key))
        solver.store(into, None, solver.element(thing, "?"))
    elif thing[0] in "lgij":
        inner = solver.new()
        solver.iterate(thing, inner, (0, 0))
        solver.store(into, None, inner)


def _key_for(solver: ContainerMethods, constraint: Constraint, key: Thing) -> None:
    _, thing, to, source = constraint
    known = key[1] if key[0] == "k" and key[1][0] in "si" else None
    solver.load(thing, known, to)
    if source >= 0:
        solver.store(thing, known, source)


def _given_arrived(solver: ContainerMethods, constraint: Constraint, thing: Thing) -> None:
    if thing[0] in "fbwucij":
        solver.call(thing, constraint[1], constraint[2], NO_ARGUMENTS, "handed", -1)
