"""Assignments to attributes: of instances, classes and modules, through properties and descriptors."""

from lakehouse_assets.link.attributes import Attributes
from lakehouse_assets.link.classes import Member
from lakehouse_assets.link.engine import Constraint
from lakehouse_assets.link.imports import Thing
from lakehouse_assets.link.program import Arguments, At
from lakehouse_assets.link.units import CLASS
from lakehouse_assets.link.uses import NO_ARGUMENTS


class Assignments(Attributes):
    """What is set on a thing reaches whoever reads it there."""

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


def on_set(solver: Assignments, constraint: Constraint, thing: Thing) -> None:
    _, name, source, at = constraint
    solver.set(thing, name, source, at)


def _descriptor_set(solver: Assignments, constraint: Constraint, thing: Thing) -> None:
    """Assigning to an attribute whose class holds a descriptor calls its `__set__`."""
    _, source, at = constraint
    if thing[0] in "ij":
        setter = solver.classes.lookup(thing[1], thing[2], "__set__")
        if not isinstance(setter, Member):
            return
        for own in setter.name.definitions:
            bound = ("b", setter.path, own, *thing)
            solver.call(bound, -1, at, Arguments([-1, source], [], []), "descriptor", -1)
