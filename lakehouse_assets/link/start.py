"""What is in a file's variables before anything flows: a function of facts, so worked out once for all rounds."""

from typing import Any

from lakehouse_assets.extract.python.flows_tables import Fun
from lakehouse_assets.link.builtins import NAMES
from lakehouse_assets.link.classes import Classes
from lakehouse_assets.link.fixtures import fixture_named, is_test_file
from lakehouse_assets.link.imports import Found, Thing
from lakehouse_assets.link.program import Program
from lakehouse_assets.link.units import CLASS, FUNCTION, Unit
from lakehouse_assets.link.world import Read

Key = tuple[str, ...]
_OF_THE_CLASS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
_SKIPPED = frozenset({"typing.Any", "<builtin>.object", "<builtin>.None", "typing.Self"})


class Start:
    """Definitions, imports, names from outside, annotations, `self`, fixtures, and who overrides whom."""

    def __init__(self, unit: Unit, program: Program, classes: Classes) -> None:
        self._unit = unit
        self._program = program
        self._classes = classes
        self._imports = classes.imports
        self.puts: list[tuple[int, Thing]] = []
        self.gets: list[tuple[Key, int]] = []
        """Shared variables, by key, whose things go to a variable of the file."""
        self.writes: list[tuple[Key, Thing]] = []
        self.containers: list[tuple[int, list[Any], str]] = []
        """Variables that an annotation says to hold a container: what it says of the elements, and a place for them."""
        world = classes.world
        world.reading = set()
        self._definitions()
        self._names()
        self._annotations()
        self._parameters()
        self._fixtures()
        self._overrides()
        self.read: frozenset[Read] = frozenset(world.reading)

    def _definitions(self) -> None:
        unit, path = self._unit, self._unit.path
        for to, d in self._program.definitions:
            self.puts.append((to, ("c" if unit.kinds[d] == CLASS else "f", path, unit.descriptors[d])))
        for to, text in self._program.constants:
            self.puts.append((to, ("k", text)))

    def _give(self, found: Found, to: int) -> None:
        self.puts += [(to, thing) for thing in found.things]
        self.gets += [(("g", path, name), to) for path, name in found.variables]

    def _names(self) -> None:
        unit = self._unit
        for to, index in self._program.imports:
            self._give(self._imports.landing(unit.path, unit.imported(index)).found, to)
        has_stars = bool(unit.stars())
        for to, name in self._program.unbound:
            found = self._imports.attribute(unit.path, name) if has_stars else Found()
            if found:
                self._give(found, to)
            elif name in NAMES:
                self.puts.append((to, ("x", f"<builtin>.{name}")))
            elif has_stars:
                self._from_outside(to, name)

    def _from_outside(self, to: int, name: str) -> None:
        """A name that nothing binds may come from a star import of something outside."""
        landed = [self._imports.landing(self._unit.path, said).found.things for said in self._unit.stars()]
        outside = [thing for things in landed for thing in things if thing[0] == "x"]
        if outside:
            self.puts.append((to, ("x", f"{outside[-1][1]}.{name}")))

    def _annotations(self) -> None:
        for to, index in self._program.annotations:
            for i, said in enumerate(self._unit.summary["annotations"][index]):
                if said[0] in ("i", "c"):
                    self.puts += [(to, thing) for thing in annotated(self._classes, self._unit, said)]
                else:
                    self.containers.append((to, self._resolved(said), f"@{index}.{i}"))

    def _resolved(self, said: list[Any]) -> list[Any]:
        """What is said of a container, with things instead of references."""
        kind, inner = said
        elements: list[Any] = []
        for part in inner:
            if part[0] in ("i", "c"):
                elements += annotated(self._classes, self._unit, part)
            else:
                elements.append(self._resolved(part))
        return [kind, elements]

    def _parameters(self) -> None:
        """`self`, `cls`, and the containers of `*` and `**` are there whoever calls."""
        unit, path = self._unit, self._unit.path
        for d, row in unit.functions.items():
            descriptor = unit.descriptors[d]
            parent = unit.parents[d]
            for i in range(4, len(row), 3):
                if row[i + 1] == 2:
                    self.puts.append((row[i + 2], ("l", path, descriptor, "*", "tuple")))
                elif row[i + 1] == 4:
                    self.puts.append((row[i + 2], ("l", path, descriptor, "**", "dict")))
            if row[1] & Fun.METHOD and not row[1] & Fun.STATIC and len(row) > 4 and row[5] < 2:
                name = descriptor[len(unit.descriptors[parent]) :].partition("(")[0]
                is_class = row[1] & Fun.CLASS or name in _OF_THE_CLASS
                self.puts.append((row[6], ("d" if is_class else "j", path, unit.descriptors[parent])))

    def _fixtures(self) -> None:
        """pytest hands to tests and fixtures what the fixtures named like their parameters give."""
        unit = self._unit
        is_test = is_test_file(unit.path)
        for d, row in unit.functions.items():
            name = unit.descriptors[d].rpartition("#")[2]
            if not (row[1] & Fun.FIXTURE or (is_test and name.startswith("test"))):
                continue
            for i in range(7 if row[1] & Fun.METHOD else 4, len(row), 3):
                fixture = fixture_named(self._imports, unit.path, unit.strings[row[i]])
                if fixture is not None and fixture[1:] != (unit.path, unit.descriptors[d]):
                    self.gets += [((kind, *fixture[1:]), row[i + 2]) for kind in "ry"]

    def _overrides(self) -> None:
        """Methods tell those they override that they are there."""
        unit = self._unit
        for d, row in unit.classes.items():
            cls: Thing = ("c", unit.path, unit.descriptors[d])
            above = [e for e in self._classes.order(cls[1], cls[2]).classes if e[0] == "c" and e != cls]
            for name, member in row[3].items() if above else ():
                for own in member[1]:
                    if unit.kinds[own] == FUNCTION and not name.startswith("__"):
                        self._override(above, name, ("f", unit.path, unit.descriptors[own]))

    def _override(self, above: list[Thing], name: str, own: Thing) -> None:
        for entry in above:
            found = self._classes.member(entry[1], entry[2], name)
            for descriptor in found.definitions if found is not None else ():
                self.writes.append((("v", entry[1], descriptor), own))


def annotated(classes: Classes, unit: Unit, said: list[Any]) -> list[Thing]:
    """Instances or classes that an annotation names."""
    kind, reference = said
    found: list[Thing] = []
    for thing in classes.imports.reference(unit.path, unit.reference(reference)).things:
        if thing[0] == "c":
            found.append(("j" if kind == "i" else "d", thing[1], thing[2]))
        elif thing[0] == "x" and kind == "i" and thing[1] not in _SKIPPED:
            found.append(("o", thing[1]))
    return found
