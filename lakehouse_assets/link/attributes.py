"""Attributes of things: of modules, classes, instances, `super()`, and of what is outside.

More kinds of things than imports give, all flat tuples:
  ("i", path, class) an instance, ("j", path, class) an instance of the class or one below it,
  ("d", path, class) the class or one below it, ("b", path, function, receiver...) a bound method,
  ("s", path, class, receiver...) what `super()` gives in a class, ("p", path, function) a property object,
  ("g", path, function) a generator, ("l", path, definition, n, kind) a container made at a node,
  ("k", constant), ("o", dotted name) an instance of a class outside.
"""

from typing import Any

from lakehouse_assets.extract.python.flows_tables import Fun
from lakehouse_assets.link.classes import Member
from lakehouse_assets.link.engine import Constraint, Engine
from lakehouse_assets.link.imports import Found, Thing
from lakehouse_assets.link.program import Arguments, At
from lakehouse_assets.link.units import CLASS, Definition

TYPE_OF_CONSTANT = {"s": "str", "i": "int"}
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


class Attributes(Engine):
    """Looks attributes up, and notes what each use of one leads to."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.references: dict[At, dict[Thing, None]] = {}
        self.calls: dict[At, dict[Thing, tuple[str, int]]] = {}
        """Per node: what is called, how it was found, and the variable that it was found in."""

    def note_call(self, at: At, target: Thing, method: str, variable: int) -> None:
        self.calls.setdefault(at, {}).setdefault(target, (method, variable))

    def note_reference(self, at: At, target: Thing) -> None:
        self.references.setdefault(at, {})[target] = None

    def definition(self, path: str, descriptor: str) -> Definition | None:
        if path == self.path:
            return self.unit.definition(descriptor)
        return self.world.fact("def", path, descriptor)

    def call(self, thing: Thing, to: int, at: At, arguments: Arguments, method: str, variable: int) -> None:
        """Calls a thing; see `Calls`."""
        raise NotImplementedError

    def give(self, found: Found, to: int, at: At | None) -> None:
        """Things and variables that a name of a module leads to."""
        for thing in found.things:
            self.put(to, thing)
            if at is not None and thing[0] in "fc":
                self.note_reference(at, thing)
        for path, name in found.variables:
            self.connect(self.share("g", path, name), to)

    def get(self, thing: Thing, name: str, to: int, at: At, variable: int) -> None:
        """What `thing.name` may be goes to a variable; reading a property calls it."""
        match thing[0]:
            case "m" | "n":
                found = self.imports.attribute(thing[1], name)
                if found:
                    self.give(found, to, at)
                elif thing[0] == "m" and self.world.fact("name", thing[1], "__getattr__") is not None:
                    getter = self.imports.attribute(thing[1], "__getattr__").things
                    for function in getter:
                        self.call(function, to, at, NO_ARGUMENTS, "dunder", variable)
            case "i" | "j":
                self._of_instance(thing, name, to, at, variable)
            case "c" | "d":
                self._of_class(thing, name, to, at, variable)
            case "s":
                self._of_super(thing, name, to, at, variable)
            case "x":
                self.put(to, ("x", f"{thing[1]}.{name}"))
            case "o" | "k" | "l" | "g":
                self.put(to, ("x", f"{type_name(thing)}.{name}"))
            case "p" if name in ("setter", "getter", "deleter"):
                self.put(to, thing)
            case "b" if name == "__self__":
                self.put(to, thing[3:])
            case "f" if name == "__wrapped__":
                self.put(to, thing)

    def _of_instance(self, thing: Thing, name: str, to: int, at: At, variable: int) -> None:
        _, path, descriptor = thing
        if name == "__class__":
            self.put(to, ("d" if thing[0] == "j" else "c", path, descriptor))
            return
        found = self.classes.lookup(path, descriptor, name)
        if isinstance(found, Member):
            self._member(found, thing, name, to, at, variable)
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
                self.call(("b", getter.path, own, *thing), to, at, NO_ARGUMENTS, "dunder", variable)

    def _instance_variables(self, path: str, descriptor: str, name: str, to: int) -> None:
        for entry in self.classes.order(path, descriptor).classes:
            if entry[0] == "c":
                self.connect(self.share("s", entry[1], entry[2], name), to)

    def _member(self, found: Member, receiver: Thing, name: str, to: int, at: At, variable: int) -> None:
        """What is found in a class, as seen from an instance."""
        path, descriptor, bound = found
        for own in bound.definitions:
            self.bind((self.imports.definition(path, own)), receiver, to, at, variable)
            if receiver[0] == "j":
                self._overridden(path, own, receiver, to, at, variable)
        if bound.imports:
            self.give(
                self.imports.bound(path, bound._replace(definitions=(), references=(), flows=False), name), to, at
            )
        if bound.flows or bound.references:
            holder = self.share("a", path, descriptor, name)
            self.constrain(holder, (_bind_arrived, receiver, to, at, holder))

    def bind(self, thing: Thing, receiver: Thing, to: int, at: At, variable: int) -> None:
        """A thing from a class, looked up on an instance: functions get bound, properties and descriptors called."""
        match thing[0]:
            case "f":
                self._bind_function(thing, receiver, to, at, variable)
            case "p":
                self.call(("b", thing[1], thing[2], *receiver), to, at, NO_ARGUMENTS, "property", variable)
            case "i" | "j":
                getter = self.classes.lookup(thing[1], thing[2], "__get__")
                if isinstance(getter, Member) and getter.name.definitions:
                    for own in getter.name.definitions:
                        self.call(("b", getter.path, own, *thing), to, at, NO_ARGUMENTS, "descriptor", variable)
                else:
                    self.put(to, thing)
            case _:
                self.put(to, thing)

    def _bind_function(self, thing: Thing, receiver: Thing, to: int, at: At, variable: int) -> None:
        _, path, descriptor = thing
        said = self.definition(path, descriptor)
        flags = said.flags if said is not None else 0
        if flags & Fun.PROPERTY:
            self.call(("b", path, descriptor, *receiver), to, at, NO_ARGUMENTS, "property", variable)
        elif flags & Fun.STATIC:
            self.put(to, thing)
            self.note_reference(at, thing)
        else:
            if flags & Fun.CLASS and receiver[0] in "ij":
                receiver = ("d" if receiver[0] == "j" else "c", receiver[1], receiver[2])
            self.put(to, ("b", path, descriptor, *receiver))
            self.note_reference(at, thing)

    def _overridden(self, path: str, own: str, receiver: Thing, to: int, at: At, variable: int) -> None:
        """An instance of a class or one below it may have a method that overrides the one found."""
        overriding = self.share("v", path, own)
        self.constrain(overriding, (_override_arrived, receiver, to, at, variable))

    def _of_class(self, thing: Thing, name: str, to: int, at: At, variable: int) -> None:
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
                self._member(above, thing, name, to, at, variable)

    def _class_member(self, found: Member, cls: Thing, name: str, to: int, at: At) -> None:
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

    def _of_super(self, thing: Thing, name: str, to: int, at: At, variable: int) -> None:
        _, path, descriptor, *rest = thing
        receiver = tuple(rest)
        found = self.classes.lookup(receiver[1], receiver[2], name, ("c", path, descriptor))
        if isinstance(found, Member):
            if receiver[0] in "ij":
                # What comes next is fixed by the receiver's class: nothing below it can come in between.
                self._member(found, ("i", *receiver[1:]), name, to, at, variable)
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
        self.connect(source, self.into("s", thing[1], thing[2], name))
        setter = self.classes.lookup(thing[1], thing[2], "__setattr__")
        if isinstance(setter, Member):
            for own in setter.name.definitions:
                self.call(("b", setter.path, own, *thing), -1, at, NO_ARGUMENTS, "dunder", -1)


def on_get(solver: Attributes, constraint: Constraint, thing: Thing) -> None:
    _, to, name, at, variable = constraint
    solver.get(thing, name, to, at, variable)


def on_set(solver: Attributes, constraint: Constraint, thing: Thing) -> None:
    _, name, source, at = constraint
    solver.set(thing, name, source, at)


def _bind_arrived(solver: Attributes, constraint: Constraint, thing: Thing) -> None:
    _, receiver, to, at, variable = constraint
    solver.bind(thing, receiver, to, at, variable)


def _override_arrived(solver: Attributes, constraint: Constraint, thing: Thing) -> None:
    """Only if the overriding method's class is below the receiver's."""
    _, receiver, to, at, variable = constraint
    said = solver.definition(thing[1], thing[2])
    if said is not None and said.around:
        below = solver.classes.order(thing[1], said.around).classes
        if ("c", receiver[1], receiver[2]) in below:
            solver.bind(thing, ("j", thing[1], said.around), to, at, variable)
