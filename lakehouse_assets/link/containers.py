"""Containers by key: what was put where, as far as keys are constants, and iteration over anything.

Of a container, variable `e` + key holds what was stored under a constant key, `?` what was stored under unknown ones,
and `*` all of it.
"""

from lakehouse_assets.link.assignments import Assignments
from lakehouse_assets.link.classes import Member
from lakehouse_assets.link.engine import Constraint
from lakehouse_assets.link.imports import Thing
from lakehouse_assets.link.program import Arguments, At
from lakehouse_assets.link.uses import NO_ARGUMENTS, Place


class Containers(Assignments):
    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        self.sizes: dict[Thing, int] = {}
        """Containers whose length is plain from where they were made."""
        self.constant_keys: dict[Thing, list[str]] = {}
        self._elements: dict[tuple[Thing, str], int] = {}
        self._keys: dict[Thing, dict[str, int]] = {}

    def container(self, at: At, kind: str, part: str = "") -> Thing:
        return ("l", self.path, self.unit.descriptors[at[0]], f"{at[1]}{part}", kind)

    def element(self, thing: Thing, key: str) -> int:
        """The variable of what is under a key; `*` of the file's own containers is put together when asked for."""
        place = (thing, key)
        found = self._elements.get(place)
        if found is not None:
            return found
        found = self._elements[place] = self.share("e", thing[1], thing[2], thing[3], key)
        if thing[1] == self.path:
            keys = self._keys.setdefault(thing, {})
            if key == "*":
                for other in tuple(keys.values()):
                    self.connect(other, found)
            elif "*" in keys:
                self.connect(found, keys["*"])
            keys[key] = found
        return found

    def store(self, thing: Thing, key: str | None, source: int) -> None:
        if source < 0:
            return
        if thing[1] == self.path:
            self.connect(source, self.element(thing, key or "?"))
        else:
            self.connect(source, self.into("e", thing[1], thing[2], thing[3], key or "?"))
            self.connect(source, self.into("e", thing[1], thing[2], thing[3], "*"))

    def load(self, thing: Thing, key: str | None, to: int) -> None:
        if key is None or key.startswith("i:-"):
            self.connect(self.element(thing, "*"), to)
        else:
            self.connect(self.element(thing, key), to)
            self.connect(self.element(thing, "?"), to)

    def dunder(self, thing: Thing, name: str, to: int, at: Place, arguments: Arguments, variable: int = -1) -> bool:
        """Calls a special method of an instance's class, if it has one in the repository."""
        if thing[0] not in "ij":
            return False
        found = self.classes.lookup(thing[1], thing[2], name)
        if not isinstance(found, Member):
            return False
        holder = self.use(thing, name, None, -1)
        self.constrain(holder, (_call_arrived, to, at, arguments, "dunder", variable))
        return True

    def item(self, thing: Thing, key: str | None, to: int, at: At) -> None:
        match thing[0]:
            case "l":
                self.load(thing, key, to)
            case "i" | "j":
                self.dunder(thing, "__getitem__", to, at, NO_ARGUMENTS)
            case "c" | "d" | "x":
                if thing[0] != "x":
                    self.put(to, thing)

    def iterate(self, thing: Thing, to: int, at: At) -> None:
        match thing[0]:
            case "l" if thing[4] != "dict":
                self.load(thing, None, to)
            case "g":
                self.connect(self.share("y", thing[1], thing[2]), to)
            case "i" | "j":
                made = self.new()
                if self.dunder(thing, "__iter__", made, at, NO_ARGUMENTS) or self.dunder(
                    thing, "__aiter__", made, at, NO_ARGUMENTS
                ):
                    self.constrain(made, (_next_arrived, to, at))
                elif not self.dunder(thing, "__next__", to, at, NO_ARGUMENTS):
                    self.dunder(thing, "__getitem__", to, at, NO_ARGUMENTS)
            case "c" | "d":
                if any(entry[0] == "x" and entry[1].startswith("enum.") for entry in self._order(thing)):
                    self.put(to, ("i", thing[1], thing[2]))

    def next(self, thing: Thing, to: int, at: At) -> None:
        if thing[0] in "ij":
            if not self.dunder(thing, "__next__", to, at, NO_ARGUMENTS):
                self.dunder(thing, "__anext__", to, at, NO_ARGUMENTS)
        else:
            self.iterate(thing, to, at)

    def enter(self, thing: Thing, to: int, at: At) -> None:
        match thing[0]:
            case "g":
                self.connect(self.share("y", thing[1], thing[2]), to)
            case "i" | "j":
                for prefix in ("__", "__a"):
                    self.dunder(thing, f"{prefix}enter__", to, at, NO_ARGUMENTS)
                    self.dunder(thing, f"{prefix}exit__", -1, at, NO_ARGUMENTS)
            case "o" | "l":
                self.put(to, thing)

    def unpack(self, thing: Thing, to: int, index: int, rest: int, at: At) -> None:
        if thing[0] != "l":
            if rest < 0:
                self.iterate(thing, to, at)
            return
        size = self.sizes.get(thing)
        if rest >= 0:
            starred = self.container(at, "list", "*")
            if size is None:
                self.store(starred, None, self.element(thing, "*"))
            else:
                for j in range(index, size - rest):
                    self.store(starred, f"i:{j - index}", self.element(thing, f"i:{j}"))
                self.store(starred, None, self.element(thing, "?"))
            self.put(to, starred)
        elif index >= 0:
            self.load(thing, f"i:{index}", to)
        else:
            self.load(thing, None if size is None else f"i:{size + index}", to)

    def slice(self, thing: Thing, to: int, low: int, high: int, at: At) -> None:
        if thing[0] != "l":
            self.item(thing, None, to, at)
            return
        part = self.container(at, thing[4])
        size = self.sizes.get(thing)
        if low < 0 or size is None:
            self.store(part, None, self.element(thing, "*"))
        else:
            for j in range(low, size if high < 0 else min(high, size)):
                self.store(part, f"i:{j - low}", self.element(thing, f"i:{j}"))
            self.store(part, None, self.element(thing, "?"))
        self.put(to, part)


def _call_arrived(solver: Containers, constraint: Constraint, thing: Thing) -> None:
    _, to, at, arguments, method, variable = constraint
    solver.call(thing, to, at, arguments, method, variable)


def _next_arrived(solver: Containers, constraint: Constraint, thing: Thing) -> None:
    _, to, at = constraint
    solver.next(thing, to, at)


def on_item(solver: Containers, constraint: Constraint, thing: Thing) -> None:
    """A key that is itself a variable is looked at once it holds something; see `Solver.settle`."""
    _, to, known, key, at, _ = constraint
    if thing[0] == "l" and known is None and key >= 0:
        solver.constrain(key, (_key_arrived, thing, to, -1))
    else:
        solver.item(thing, known, to, at)


def on_set_item(solver: Containers, constraint: Constraint, thing: Thing) -> None:
    _, known, key, source, at, _ = constraint
    if thing[0] in "ij":
        solver.dunder(thing, "__setitem__", -1, at, Arguments([key, source], [], []))
    elif thing[0] == "l":
        if known is None and key >= 0:
            solver.constrain(key, (_key_arrived, thing, -1, source))
        else:
            solver.store(thing, known, source)


def _key_arrived(solver: Containers, constraint: Constraint, key: Thing) -> None:
    _, thing, to, source = constraint
    known = key[1] if key[0] == "k" and key[1][0] in "si" else None
    if to >= 0:
        solver.load(thing, known, to)
    else:
        solver.store(thing, known, source)


def on_iterate(solver: Containers, constraint: Constraint, thing: Thing) -> None:
    _, to, at = constraint
    solver.iterate(thing, to, at)


def on_enter(solver: Containers, constraint: Constraint, thing: Thing) -> None:
    _, to, at = constraint
    solver.enter(thing, to, at)


def on_unpack(solver: Containers, constraint: Constraint, thing: Thing) -> None:
    _, to, index, rest, at = constraint
    solver.unpack(thing, to, index, rest, at)


def on_slice(solver: Containers, constraint: Constraint, thing: Thing) -> None:
    _, to, low, high, at = constraint
    solver.slice(thing, to, low, high, at)


def on_delete(solver: Containers, constraint: Constraint, thing: Thing) -> None:
    solver.dunder(thing, "__delitem__", -1, constraint[1], NO_ARGUMENTS)
