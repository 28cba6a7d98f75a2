"""Attributes of things: of modules, classes, instances, `super()`, and of what is outside.

More kinds of things than imports give, all flat tuples:
  ("i", path, class) an instance, ("j", path, class) an instance of the class or one below it,
  ("d", path, class) the class or one below it, ("b", path, function, receiver...) a bound method,
  ("s", path, class, receiver...) what `super()` gives in a class, ("p", path, function) a property object,
  ("w", path, function, path, function) a function that a decorator put in the place of another, to which it forwards,
  ("u", the same, receiver...) such a one bound to a receiver,
  ("g", path, function) a generator, ("l", path, definition, n, kind) a container made at a node,
  ("k", constant), ("o", dotted name) an instance of a class outside.
"""

from typing import Any

from lakehouse_assets.extract.python.flows_tables import Fun
from lakehouse_assets.link.classes import Member
from lakehouse_assets.link.engine import MANY_THINGS, Constraint, Engine
from lakehouse_assets.link.imports import Found, Thing
from lakehouse_assets.link.program import Arguments, At
from lakehouse_assets.link.units import CLASS, Definition

TYPE_OF_CONSTANT = {"s": "str", "i": "int"}
DEEPEST_NAME = 6
"""Parts of a dotted name of something outside that are followed."""
_METHODS_OF = {
    f"<builtin>.{kind.__name__}": frozenset(dir(kind))
    for kind in (str, bytes, int, float, list, tuple, set, dict, bool)
}
NO_ARGUMENTS = Arguments([], [], [])


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


Place = At | Use


class Attributes(Engine):
    """Looks attributes up, and notes what each use of one leads to."""

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
            self._get(thing, name, found.to, found)
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

    def call(self, thing: Thing, to: int, at: Place, arguments: Arguments, method: str, variable: int) -> None:
        """Calls a thing; see `Calls`."""
        raise NotImplementedError

    def give(self, found: Found, to: int, at: Place | None) -> None:
        """Things and variables that a name of a module leads to."""
        for thing in found.things:
            self.put(to, thing)
            if at is not None and thing[0] in "fc":
                self.note_reference(at, thing)
        for path, name in found.variables:
            self.connect(self.share("g", path, name), to)

    def _get(self, thing: Thing, name: str, to: int, at: Use) -> None:
        match thing[0]:
            case "m" | "n":
                found = self.imports.attribute(thing[1], name)
                if found:
                    self.give(found, to, at)
                elif thing[0] == "m":
                    for getter in self.imports.attribute(thing[1], "__getattr__").things:
                        self.call(getter, to, at, NO_ARGUMENTS, "dunder", -1)
            case "i" | "j":
                self._of_instance(thing, name, to, at)
            case "c" | "d":
                self._of_class(thing, name, to, at)
            case "s":
                self._of_super(thing, name, to, at)
            case "p" if name in ("setter", "getter", "deleter"):
                self.put(to, thing)
            case "b" if name == "__self__":
                self.put(to, thing[3:])
            case "f" | "w" if name == "__wrapped__":
                self.put(to, ("f", *thing[-2:]))

    def put_outside(self, to: int, holder: str, name: str) -> None:
        """An attribute of something outside. In a loop (`node = node.next`) it would never end: no name comes twice."""
        if name not in _METHODS_OF.get(holder, (name,)):
            return
        parts = holder.split(".")
        if name not in parts and len(parts) < DEEPEST_NAME:
            self.put(to, ("x", f"{holder}.{name}"))

    def _of_instance(self, thing: Thing, name: str, to: int, at: Use) -> None:
        _, path, descriptor = thing
        if name == "__class__":
            self.put(to, ("d" if thing[0] == "j" else "c", path, descriptor))
            return
        found = self.classes.lookup(path, descriptor, name)
        if isinstance(found, Member):
            self._member(found, thing, name, to, at)
            if found.name.definitions:
                return
        self._instance_variables(path, descriptor, name, to)
        if isinstance(found, Member):
            return
        if found is not None:
            self.put(to, ("x", found))
        getter = self.classes.lookup(path, descriptor, "__getattr__")
        if isinstance(getter, Member) and not name.startswith("__"):
            for own in getter.name.definitions:
                self.call(("b", getter.path, own, *thing), to, at, NO_ARGUMENTS, "dunder", -1)

    def _instance_variables(self, path: str, descriptor: str, name: str, to: int) -> None:
        for entry in self.classes.order(path, descriptor).classes:
            if entry[0] == "c":
                self.connect(self.share("s", entry[1], entry[2], name), to)

    def _member(self, found: Member, receiver: Thing, name: str, to: int, at: Use) -> None:
        """What is found in a class, as seen from an instance."""
        path, descriptor, bound = found
        for own in bound.definitions:
            self.bind((self.imports.definition(path, own)), receiver, to, at)
            if receiver[0] == "j":
                self._overridden(path, own, receiver, to, at)
        if bound.imports:
            self.give(
                self.imports.bound(path, bound._replace(definitions=(), references=(), flows=False), name), to, at
            )
        if bound.flows or bound.references:
            holder = self.share("a", path, descriptor, name)
            self.constrain(holder, (_bind_arrived, receiver, to, at))

    def bind(self, thing: Thing, receiver: Thing, to: int, at: Use) -> None:
        """A thing from a class, looked up on an instance: functions get bound, properties and descriptors called."""
        match thing[0]:
            case "f":
                self._bind_function(thing, receiver, to, at)
            case "w":
                self._bind_wrapper(thing, receiver, to, at)
            case "p":
                self.call(("b", thing[1], thing[2], *receiver), to, at, NO_ARGUMENTS, "property", -1)
            case "i" | "j":
                getter = self.classes.lookup(thing[1], thing[2], "__get__")
                if isinstance(getter, Member) and getter.name.definitions:
                    for own in getter.name.definitions:
                        self.call(("b", getter.path, own, *thing), to, at, NO_ARGUMENTS, "descriptor", -1)
                else:
                    self.put(to, thing)
            case _:
                self.put(to, thing)

    def _bind_function(self, thing: Thing, receiver: Thing, to: int, at: Use) -> None:
        _, path, descriptor = thing
        said = self.definition(path, descriptor)
        flags = said.flags if said is not None else 0
        if flags & Fun.PROPERTY:
            self.call(("b", path, descriptor, *receiver), to, at, NO_ARGUMENTS, "property", -1)
        elif flags & Fun.STATIC:
            self.put(to, thing)
            self.note_reference(at, thing)
        else:
            if flags & Fun.CLASS and receiver[0] in "ij":
                receiver = ("d" if receiver[0] == "j" else "c", receiver[1], receiver[2])
            self.put(to, ("b", path, descriptor, *receiver))
            self.note_reference(at, thing)

    def _bind_wrapper(self, thing: Thing, receiver: Thing, to: int, at: Use) -> None:
        """As the function that it stands for would be."""
        said = self.definition(thing[3], thing[4])
        flags = said.flags if said is not None else 0
        self.note_reference(at, ("f", thing[3], thing[4]))
        if flags & Fun.STATIC:
            self.put(to, thing)
            return
        if flags & Fun.CLASS and receiver[0] in "ij":
            receiver = ("d" if receiver[0] == "j" else "c", receiver[1], receiver[2])
        bound = ("u", *thing[1:], *receiver)
        if flags & Fun.PROPERTY:
            self.call(bound, to, at, NO_ARGUMENTS, "property", -1)
        else:
            self.put(to, bound)

    def _overridden(self, path: str, own: str, receiver: Thing, to: int, at: Use) -> None:
        """An instance of a class or one below it may have a method that overrides the one found."""
        overriding = self.share("v", path, own)
        self.constrain(overriding, (_override_arrived, receiver, to, at))

    def _of_class(self, thing: Thing, name: str, to: int, at: Use) -> None:
        _, path, descriptor = thing
        found = self.classes.lookup(path, descriptor, name)
        if isinstance(found, Member):
            self._class_member(found, thing, name, to, at)
            return
        self.connect(self.share("a", path, descriptor, name), to)
        if found is not None:
            self.put(to, ("x", found))
        meta = self.classes.metaclass(path, descriptor)
        if meta is not None:
            above = self.classes.lookup(meta[1], meta[2], name)
            if isinstance(above, Member):
                self._member(above, thing, name, to, at)

    def _class_member(self, found: Member, cls: Thing, name: str, to: int, at: Use) -> None:
        path, descriptor, bound = found
        for own in bound.definitions:
            said = self.definition(path, own)
            if said is None:
                continue
            if said.kind == CLASS:
                self.put(to, ("c", path, own))
                self.note_reference(at, ("c", path, own))
            elif said.flags & Fun.CLASS:
                self.put(to, ("b", path, own, *cls))
                self.note_reference(at, ("f", path, own))
            elif not said.flags & Fun.PROPERTY:
                self.put(to, ("f", path, own))
                self.note_reference(at, ("f", path, own))
        if bound.imports:
            self.give(
                self.imports.bound(path, bound._replace(definitions=(), references=(), flows=False), name), to, at
            )
        if bound.flows or bound.references:
            if any(entry[0] == "x" and entry[1].startswith("enum.") for entry in self._order(cls)):
                self.put(to, ("i", cls[1], cls[2]))
            self.connect(self.share("a", path, descriptor, name), to)

    def _order(self, cls: Thing) -> tuple[Thing, ...]:
        return self.classes.order(cls[1], cls[2]).classes

    def _of_super(self, thing: Thing, name: str, to: int, at: Use) -> None:
        _, path, descriptor, *rest = thing
        receiver = tuple(rest)
        found = self.classes.lookup(receiver[1], receiver[2], name, ("c", path, descriptor))
        if isinstance(found, Member):
            if receiver[0] in "ij":
                # What comes next is fixed by the receiver's class: nothing below it can come in between.
                self._member(found, ("i", *receiver[1:]), name, to, at)
            else:
                self._class_member(found, receiver, name, to, at)
        elif found is not None:
            self.put(to, ("x", found))

    def set(self, thing: Thing, name: str, source: int, at: At) -> None:
        match thing[0]:
            case "i" | "j":
                self._set_on_instance(thing, name, source, at)
            case "c" | "d":
                self.connect(source, self.into("a", thing[1], thing[2], name))
            case "m":
                self.connect(source, self.into("g", thing[1], name))

    def _set_on_instance(self, thing: Thing, name: str, source: int, at: At) -> None:
        """What a method sets on `self` is set on its own class, whichever class below it the instance has."""
        _, path, descriptor = thing
        own = self._class_around(at[0])
        if own and ("c", self.path, own) in self.classes.order(path, descriptor).classes:
            path, descriptor = self.path, own
        self.connect(source, self.into("s", path, descriptor, name))
        found = self.classes.lookup(thing[1], thing[2], name)
        if isinstance(found, Member):
            for own in found.name.setters:
                bound = ("b", found.path, own, *thing)
                self.call(bound, -1, at, Arguments([source], [], []), "property", -1)
            if found.name.flows:
                holder = self.share("a", found.path, found.descriptor, name)
                self.constrain(holder, (_descriptor_set, source, at))
        setter = self.classes.lookup(thing[1], thing[2], "__setattr__")
        if isinstance(setter, Member):
            for own in setter.name.definitions:
                self.call(("b", setter.path, own, *thing), -1, at, NO_ARGUMENTS, "dunder", -1)

    def _class_around(self, d: int) -> str:
        unit = self.unit
        while d > 0:
            d = unit.parents[d]
            if unit.kinds[d] == CLASS:
                return unit.descriptors[d]
        return ""


def on_get(solver: Attributes, constraint: Constraint, thing: Thing) -> None:
    _, to, name, at, variable = constraint
    solver.get(thing, name, to, at, variable)


def on_set(solver: Attributes, constraint: Constraint, thing: Thing) -> None:
    _, name, source, at = constraint
    solver.set(thing, name, source, at)


def _descriptor_set(solver: Attributes, constraint: Constraint, thing: Thing) -> None:
    """Assigning to an attribute whose class holds a descriptor calls its `__set__`."""
    _, source, at = constraint
    if thing[0] in "ij":
        setter = solver.classes.lookup(thing[1], thing[2], "__set__")
        if not isinstance(setter, Member):
            return
        for own in setter.name.definitions:
            bound = ("b", setter.path, own, *thing)
            solver.call(bound, -1, at, Arguments([-1, source], [], []), "descriptor", -1)


def _bind_arrived(solver: Attributes, constraint: Constraint, thing: Thing) -> None:
    _, receiver, to, at = constraint
    solver.bind(thing, receiver, to, at)


def _override_arrived(solver: Attributes, constraint: Constraint, thing: Thing) -> None:
    """Only if the overriding method's class is below the receiver's."""
    _, receiver, to, at = constraint
    if thing == MANY_THINGS:
        solver.put(to, thing)
        return
    said = solver.definition(thing[1], thing[2])
    if said is not None and said.around:
        below = solver.classes.order(thing[1], said.around).classes
        if ("c", receiver[1], receiver[2]) in below:
            solver.bind(thing, ("j", thing[1], said.around), to, at)
