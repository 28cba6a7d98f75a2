"""One file's summary as others may read it: by descriptors, never by numbers that shift when the file is edited."""

from typing import Any, NamedTuple

from lakehouse_assets.extract.python.flows_tables import Fun, Imp
from lakehouse_assets.link.keys import PART

MODULE, CLASS, FUNCTION, LAMBDA = range(4)


class Import(NamedTuple):
    """What an import says. `name` is None for `import module`; `whole` tells `import a.b as c` from `import a.b`."""

    level: int
    module: str
    name: str | None
    whole: bool


class Name(NamedTuple):
    """What a name of a module or class is bound to, as far as it can be told without following flows."""

    definitions: tuple[str, ...]
    imports: tuple[Import, ...]
    references: tuple[tuple[Any, ...], ...]
    flows: bool
    setters: tuple[str, ...] = ()
    """Functions that an assignment to a property calls."""


class Definition(NamedTuple):
    """What callers need to know of a definition: kind, flags, and of a function each parameter's name and kind."""

    kind: int
    flags: int
    parameters: tuple[tuple[str, int], ...]
    around: str
    """Descriptor of the class that a method is in, else empty."""


class Unit:
    """A summary with its indexes; what is read is made on demand, as most files read little of most others."""

    def __init__(self, path: str, summary: dict[str, Any]) -> None:
        self.path = path
        self.summary = dict(summary)
        self.descriptors: list[str] = summary["descriptors"]
        self.kinds: list[int] = summary["definitions"][0]
        self.parents: list[int] = summary["definitions"][1]
        self.number = {descriptor: d for d, descriptor in enumerate(self.descriptors)}
        self.strings: list[str] = summary["strings"]
        self.constants: list[str] = summary["constants"]
        self.imports: list[list[int]] = summary["imports"]
        self.names: dict[str, list[Any]] = summary["names"]
        self.classes: dict[int, list[Any]] = {row[0]: row for row in summary["classes"]}
        self.functions: dict[int, list[Any]] = {row[0]: row for row in summary["functions"]}

    def forget_operations(self) -> None:
        """The flow program is the largest part, and of no use once it is made ready to run."""
        self.summary = {**self.summary, "ops": ()}

    def imported(self, index: int) -> Import:
        _, _, level, module, name, asname, _ = self.imports[index]
        return Import(
            level,
            self.strings[module] if module >= 0 else "",
            self.strings[name] if name >= 0 else None,
            asname >= 0,
        )

    def stars(self) -> tuple[Import, ...]:
        return tuple(
            self.imported(i) for i, row in enumerate(self.imports) if row[6] & Imp.STAR and self._is_of_module(row[0])
        )

    def _is_of_module(self, d: int) -> bool:
        return d == 0

    def name(self, name: str) -> Name | None:
        row = self.names.get(name)
        return None if row is None else self._name(row)

    def member(self, descriptor: str, name: str) -> Name | None:
        d = self.number.get(descriptor)
        row = self.classes.get(d) if d is not None else None
        found = row[3].get(name) if row is not None else None
        return None if found is None else self._name(found)

    def _name(self, row: list[Any]) -> Name:
        descriptors = self.descriptors
        definitions = tuple(descriptors[d] for d in row[1] if self._is_the_one(d, row[1]))
        imports = tuple(self.imported(index) for index in row[2])
        setters = tuple(descriptors[d] for d in row[1] if self._flags(d) & Fun.ACCESSOR)
        return Name(definitions, imports, tuple(self.reference(found) for found in row[3]), bool(row[4]), setters)

    def _flags(self, d: int) -> int:
        return self.functions[d][1] if d in self.functions else 0

    def _is_the_one(self, d: int, among: list[int]) -> bool:
        """Of a property's parts the getter counts, of overloads the last: what a use of the name leads to."""
        if len(among) == 1 or self.kinds[d] != FUNCTION:
            return True
        if self._flags(d) & (Fun.ACCESSOR | Fun.OVERLOAD):
            return all(self.functions[o][1] & (Fun.ACCESSOR | Fun.OVERLOAD) for o in among if o in self.functions)
        return True

    def reference(self, found: list[Any] | None) -> tuple[Any, ...]:
        """A reference with the descriptor instead of the number of the definition that it starts from."""
        if found is None:
            return ()
        return tuple(found) if found[0] == 0 else (1, self.descriptors[found[1]], *found[2:])

    def bases(self, descriptor: str) -> tuple[Any, ...] | None:
        """References to the bases, and to the metaclass; an empty one for what is no reference."""
        d = self.number.get(descriptor)
        row = self.classes.get(d) if d is not None else None
        if row is None:
            return None
        return tuple(self.reference(base) for base in row[1]), self.reference(row[2])

    def definition(self, descriptor: str) -> Definition | None:
        d = self.number.get(descriptor)
        if d is None:
            return None
        parent = self.parents[d]
        around = self.descriptors[parent] if parent >= 0 and self.kinds[parent] == CLASS else ""
        row = self.functions.get(d)
        if row is None:
            return Definition(self.kinds[d], 0, (), around)
        strings = self.strings
        parameters = tuple((strings[row[i]], row[i + 1]) for i in range(4, len(row), 3))
        return Definition(self.kinds[d], row[1], parameters, around)

    def all_names(self) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...], bool] | None:
        found = self.summary["all"]
        if found is None:
            return None
        return tuple(found["names"]), tuple(tuple(ref) for ref in found["modules"]), bool(found["unknown"])

    def provided(self) -> dict[str, Any]:
        """Every fact that others can read of this file, by key without the path; see `World.fact`."""
        facts: dict[str, Any] = {"stars": self.stars() or None, "all": self.all_names()}
        facts["names"] = tuple(sorted(self.names))
        for name in self.names:
            facts[f"name{PART}{name}"] = self.name(name)
        for descriptor in self.descriptors:
            facts[f"def{PART}{descriptor}"] = self.definition(descriptor)
        for d, row in self.classes.items():
            descriptor = self.descriptors[d]
            facts[f"class{PART}{descriptor}"] = self.bases(descriptor)
            for name in row[3]:
                facts[f"member{PART}{descriptor}{PART}{name}"] = self.member(descriptor, name)
        return facts
