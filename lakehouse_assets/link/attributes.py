"""Attributes of things: of modules, classes, instances, `super()`, and of what is outside."""

from lakehouse_assets.extract.python.flows_tables import Fun
from lakehouse_assets.link.classes import Member
from lakehouse_assets.link.engine import MANY_THINGS, Constraint
from lakehouse_assets.link.imports import Thing
from lakehouse_assets.link.units import CLASS
from lakehouse_assets.link.uses import NO_ARGUMENTS, Use, Uses


class Attributes(Uses):
    """Looks attributes up."""

    def get_once(self, thing: Thing, name: str, to: int, at: Use) -> None:
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


def on_get(solver: Attributes, constraint: Constraint, thing: Thing) -> None:
    _, to, name, at, variable = constraint
    solver.get(thing, name, to, at, variable)


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
