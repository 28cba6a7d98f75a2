"""Uses of attributes: each worked out once, and noted for every node that makes it.

More kinds of things than imports give, all flat tuples:
  ("i", path, class) an instance, ("j", path, class) an instance of the class or one below it,
  ("d", path, class) the class or one below it, ("b", path, function, receiver...) a bound method,
  ("s", path, class, receiver...) what `super()` gives in a class, ("p", path, function) a property object,
  ("w", path, function, path, function) a function that a decorator put in the place of another, to which it forwards,
  ("u", the same, receiver...) such a one bound to a receiver,
  ("g", path, function) a generator, ("l", path, definition, n, kind) a container made at a node,
  ("k", constant), ("o", dotted name) an instance of a class outside.
"""

from abc import abstractmethod
from typing import Any

from lakehouse_assets.link.engine import Engine
from lakehouse_assets.link.imports import Found, Thing
from lakehouse_assets.link.program import Arguments, At
from lakehouse_assets.link.units import Definition

TYPE_OF_CONSTANT = {"s": "str", "i": "int"}
DEEPEST_NAME = 6
"""Parts of a dotted name of something outside that are followed."""
_METHODS_OF = {
    f"<builtin>.{kind.__name__}": frozenset(dir(kind))
    for kind in (str, bytes, int, float, list, tuple, set, dict, bool)
}
NO_ARGUMENTS = Arguments([], [], [])


class Use:
    """An attribute of a thing, worked out once however often it is used: `to` holds what it may be.

    Stands for the nodes that use it: what it leads to or calls is noted for each of them.
    """

    __slots__ = ("calls", "references", "to", "users")

    def __init__(self, to: int) -> None:
        self.to = to
        self.users: dict[tuple[At | Use, int], None] = {}
        self.calls: dict[Thing, str] = {}
        self.references: dict[Thing, None] = {}


def type_name(thing: Thing) -> str:
    """Dotted name of the class of a built-in thing."""
    match thing:
        case ("k", text):
            return "<builtin>." + (TYPE_OF_CONSTANT.get(text[0]) or text[2:])
        case ("l", _, _, _, kind):
            return f"<builtin>.{kind}"
        case ("g", *_):
            return "<builtin>.generator"
        case _:
            return thing[1]


def has_method(thing: Thing, name: str) -> bool:
    """Whether what is built in has an attribute of that name; of what is outside nothing is known, so it may."""
    return name in _METHODS_OF.get(type_name(thing), (name,))


Place = At | Use


class Uses(Engine):
    """Notes what each node calls and refers to."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.references: dict[At, dict[Thing, None]] = {}
        self.calls: dict[At, dict[Thing, tuple[str, int]]] = {}
        """Per node: what is called, how it was found, and the variable that it was found in."""
        self._uses: dict[tuple[Thing, str], Use] = {}

    def note_call(self, at: Place, target: Thing, method: str, variable: int) -> None:
        if isinstance(at, Use):
            if target not in at.calls:
                at.calls[target] = method
                for place, user in at.users:
                    self.note_call(place, target, method, user)
        else:
            self.calls.setdefault(at, {}).setdefault(target, (method, variable))

    def note_reference(self, at: Place, target: Thing) -> None:
        if isinstance(at, Use):
            if target not in at.references:
                at.references[target] = None
                for place, _ in at.users:
                    self.note_reference(place, target)
        else:
            self.references.setdefault(at, {})[target] = None

    def use(self, thing: Thing, name: str, at: Place | None, variable: int) -> int:
        """The variable that holds what `thing.name` may be; reading a property calls it. None: no node shows it."""
        key = (thing, name)
        found = self._uses.get(key)
        if found is None:
            found = self._uses[key] = Use(self.new())
            self.get_once(thing, name, found.to, found)
        if at is not None and (at, variable) not in found.users:
            found.users[at, variable] = None
            for target, method in found.calls.items():
                self.note_call(at, target, method, variable)
            for target in found.references:
                self.note_reference(at, target)
        return found.to

    def get(self, thing: Thing, name: str, to: int, at: Place, variable: int) -> None:
        """What `thing.name` may be goes to a variable."""
        if thing[0] in "xoklg":
            self.put_outside(to, type_name(thing), name)
        else:
            self.connect(self.use(thing, name, at, variable), to)

    def definition(self, path: str, descriptor: str) -> Definition | None:
        if path == self.path:
            return self.unit.definition(descriptor)
        return self.world.fact("def", path, descriptor)

    def give(self, found: Found, to: int, at: Place | None) -> None:
        """Things and variables that a name of a module leads to."""
        for thing in found.things:
            self.put(to, thing)
            if at is not None and thing[0] in "fc":
                self.note_reference(at, thing)
        for path, name in found.variables:
            self.connect(self.share("g", path, name), to)

    def put_outside(self, to: int, holder: str, name: str) -> None:
        """An attribute of something outside. In a loop (`node = node.next`) it would never end: no name comes twice."""
        if name not in _METHODS_OF.get(holder, (name,)):
            return
        parts = holder.split(".")
        if name not in parts and len(parts) < DEEPEST_NAME:
            self.put(to, ("x", f"{holder}.{name}"))

    @abstractmethod
    def call(self, thing: Thing, to: int, at: Place, arguments: Arguments, method: str, variable: int) -> None:
        """Calls a thing; see `Calls`."""

    @abstractmethod
    def get_once(self, thing: Thing, name: str, to: int, at: Use) -> None:
        """Puts what `thing.name` may be into a variable; see `Attributes`."""
