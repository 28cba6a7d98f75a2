"""Where imports and names of modules lead, through re-exports, stars and `__all__`, without following flows.

A thing is a flat tuple of strings whose first part says what it is:
  ("f", path, descriptor) a function, ("c", path, descriptor) a class, ("m", path) a module,
  ("n", folder) a namespace package, ("x", dotted name) something outside all registered repositories.
"""

from typing import Any, Literal, NamedTuple

from lakehouse_assets.link.keys import ELSEWHERE, PART
from lakehouse_assets.link.modules import STANDARD_LIBRARY, candidates, child, relative_folder
from lakehouse_assets.link.units import CLASS, Import, Name
from lakehouse_assets.link.world import World

Thing = tuple[str, ...]
ImportKind = Literal["first_party", "other_repository", "ambiguous", "standard_library", "third_party", "unresolved"]


class Found(NamedTuple):
    """What a name leads to: things, and variables of modules (path, name) that may hold more."""

    things: tuple[Thing, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.things or self.variables)


class Landing(NamedTuple):
    """Where an import lands: its kind, the absolute dotted name of its module, and what it brings."""

    kind: ImportKind
    module: str
    found: Found
    is_outside: bool = False
    """Whether what another repository lacks may be in what is installed, so that the name outside counts."""
    source: str | None = None
    """The module that is imported, or imported from, if it is in a registered repository."""


class Place(NamedTuple):
    """What a module's dotted name leads to: where it was looked for, and its target there."""

    where: Literal["own", "elsewhere", "ambiguous", "outside"]
    target: str | None = None


_TOP = "__init__.py"
"""What a relative import from the top of a repository begins with, whether there is such a file or not."""
NOTHING_FOUND = Found()
_NOWHERE = Landing("unresolved", "", NOTHING_FOUND)


def split(path: str) -> tuple[str, str]:
    """Repository (empty: the one being linked) and path."""
    repo, mark, there = path.partition(ELSEWHERE)
    return (repo, there) if mark else ("", path)


def _joined(repo: str, path: str) -> str:
    return f"{repo}{ELSEWHERE}{path}" if repo else path


def _outside_kind(found: Found) -> ImportKind | None:
    """Of a name that a module has from outside: where it comes from."""
    if found.variables or any(thing[0] != "x" for thing in found.things):
        return None
    top = found.things[0][1].partition(".")[0]
    return "standard_library" if top in STANDARD_LIBRARY or top == "<builtin>" else "third_party"


def _thing_at(target: str) -> Thing:
    return ("n", target) if target.endswith("/") else ("m", target)


class Imports:
    """Resolves against a world; every answer notes what was read."""

    def __init__(self, world: World) -> None:
        self.world = world

    def submodule(self, target: str, name: str) -> str | None:
        """A module in a package, as a target."""
        repo, there = split(target)
        stem = child(there, name)
        if stem is None:
            return None
        found = self.world.fact("at", _joined(repo, stem))
        return None if found is None else _joined(repo, found)

    def _below(self, target: str, names: list[str]) -> str | None:
        at: str | None = target
        for name in names:
            at = self.submodule(at, name)
            if at is None:
                return None
        return at

    def absolute(self, importer: str, dotted: str) -> Place:
        """Where a module's dotted name leads: in the importer's repository, else in one other that offers it.

        What several offer is not decided by their names: the importer may mean any, or none of them.
        """
        top, *rest = dotted.split(".")
        repo, there = split(importer)
        own = candidates(top, self.world.fact("top", _joined(repo, top)) or (), there)
        for candidate in own:
            found = self._below(_joined(repo, candidate), rest)
            if found is not None:
                return Place("own", found)
        if own:
            return Place("own")
        if top in STANDARD_LIBRARY:
            return Place("outside")
        match self._elsewhere(repo, top, rest):
            case []:
                return Place("outside")
            case [target]:
                return Place("elsewhere", target)
            case _:
                return Place("ambiguous")

    def _elsewhere(self, repo: str, top: str, rest: list[str]) -> list[str]:
        """Targets of a module in repositories other than `repo`, at most one of each."""
        offering: tuple[str, ...] = self.world.fact("offering", f"{ELSEWHERE}{top}")
        found: list[str] = []
        for other in (*offering, "") if repo else offering:
            target = self.world.fact("offered", _joined(other, top)) if other != repo else None
            below = self._below(_joined(other, target), rest) if target is not None else None
            if below is not None:
                found.append(below)
        return found

    def landing(self, importer: str, said: Import) -> Landing:
        key = ("landing", importer, said)
        return self.world.derived(key, _NOWHERE, self._landing, importer, said)

    def _landing(self, importer: str, said: Import) -> Landing:
        module, target, kind = self._module(importer, said)
        if target is None:
            dotted = module if said.name in (None, "*") else f"{module}.{said.name}"
            if said.name is None and not said.whole:
                dotted = module.partition(".")[0]
            return Landing(kind, module, Found((("x", dotted),)))
        if said.name is None:
            top = target if said.whole else self._top_of(importer, said.module.partition(".")[0], target)
            return Landing(kind, module, Found((_thing_at(top or target),)), source=self._file(target))
        if said.name == "*":
            return Landing(kind, module, Found((_thing_at(target),)), source=self._file(target))
        found = self.attribute(target, said.name)
        if not found:
            is_outside = kind == "other_repository"
            dotted = said.module if is_outside else module
            outside = Found((("x", f"{dotted}.{said.name}"),))
            return Landing("unresolved", module, outside, is_outside, source=self._file(target))
        return Landing(_outside_kind(found) or kind, module, found, source=self._file(target))

    def _file(self, target: str) -> str | None:
        """The target, if it is a file: a folder may have none, and so may the top of the repository."""
        is_none = target.endswith("/") or (target == _TOP and not self.world.fact("path", target))
        return None if is_none else target

    def _top_of(self, importer: str, top: str, target: str) -> str | None:
        """The package that a plain `import top.module` binds, where the module is `target`."""
        repo = split(target)[0]
        if repo == split(importer)[0]:
            return self.absolute(importer, top).target
        offered = self.world.fact("offered", _joined(repo, top))
        return None if offered is None else _joined(repo, offered)

    def _module(self, importer: str, said: Import) -> tuple[str, str | None, ImportKind]:
        """Absolute name, target and kind of the module that an import names."""
        if said.level:
            repo, there = split(importer)
            folder = relative_folder(there, said.level)
            if folder is None:
                return "." * said.level + said.module, None, "unresolved"
            parts = [*folder.split("/"), *said.module.split(".")]
            stem = "/".join(part for part in parts if part)
            found = self.world.fact("at", _joined(repo, stem)) if stem else _TOP
            if found is None:
                return stem.replace("/", "."), None, "unresolved"
            target = _joined(repo, found)
            return self._name_of_target(target), target, "first_party"
        match self.absolute(importer, said.module):
            case Place("own", str(target)):
                return self._name_of_target(target), target, "first_party"
            case Place("elsewhere", str(target)):
                return self._name_of_target(target), target, "other_repository"
            case Place("own"):
                return said.module, None, "unresolved"
            case Place("ambiguous"):
                return said.module, None, "ambiguous"
        kind = "standard_library" if said.module.partition(".")[0] in STANDARD_LIBRARY else "third_party"
        return said.module, None, kind

    def _name_of_target(self, target: str) -> str:
        if target.endswith("/"):
            return split(target)[1][:-1].replace("/", ".")
        return self.world.fact("module", target)

    def attribute(self, target: str, name: str) -> Found:
        """What `name` is in a module: what is bound there, then what stars bring, then a submodule."""
        return self.world.derived(("attribute", target, name), NOTHING_FOUND, self._attribute, target, name)

    def _attribute(self, target: str, name: str) -> Found:
        if not target.endswith("/"):
            bound: Name | None = self.world.fact("name", target, name)
            found = self.bound(target, bound, name) if bound is not None else NOTHING_FOUND
            if not found and bound is None:
                found = self._from_stars(target, name)
            if found:
                return found
        below = self.submodule(target, name)
        return Found((_thing_at(below),)) if below is not None else NOTHING_FOUND

    def bound(self, path: str, bound: Name, name: str) -> Found:
        """What a binding of a module leads to."""
        things: list[Thing] = [self.definition(path, descriptor) for descriptor in bound.definitions]
        variables: list[tuple[str, str]] = []
        flows = bound.flows
        for said in bound.imports:
            landed = self.landing(path, said)
            if landed.kind != "unresolved" or landed.is_outside:
                things += landed.found.things
                variables += landed.found.variables
        for reference in bound.references:
            led = self.reference(path, reference)
            things += led.things
            variables += led.variables
            flows = flows or not led
        if flows:
            variables.append((path, name))
        return Found(tuple(dict.fromkeys(things)), tuple(dict.fromkeys(variables)))

    def definition(self, path: str, descriptor: str) -> Thing:
        said = self.world.fact("def", path, descriptor)
        return ("c" if said is not None and said.kind == CLASS else "f", path, descriptor)

    def _from_stars(self, path: str, name: str) -> Found:
        """The last star wins, as the later import overwrites the earlier one."""
        for said in reversed(self.world.fact("stars", path) or ()):
            landed = self.landing(path, said).found.things
            if landed and landed[0][0] == "m" and self.offers(landed[0][1], name):
                found = self.attribute(landed[0][1], name)
                if found:
                    return found
        return NOTHING_FOUND

    def offers(self, path: str, name: str) -> bool:
        """Whether a star import takes a name."""
        return self.world.derived(("offers", path, name), False, self._offers, path, name)

    def _offers(self, path: str, name: str) -> bool:
        said = self.world.fact("all", path)
        if said is None:
            return not name.startswith("_")
        names, modules, unknown = said
        if name in names or (unknown and not name.startswith("_")):
            return True
        return any(
            thing[0] == "m" and self.offers(thing[1], name)
            for reference in modules
            for thing in self.reference(path, reference).things
        )

    def reference(self, path: str, reference: tuple[Any, ...]) -> Found:
        """What a dotted reference in a module leads to, by its first name and then attribute by attribute."""
        if not reference:
            return NOTHING_FOUND
        if reference[0] == 0:
            found = self.attribute(path, reference[1])
            if not found and not (self.world.fact("name", path, reference[1])):
                found = Found((("x", f"<builtin>.{reference[1]}"),))
        else:
            found = Found((self.definition(path, reference[1]),))
        for name in reference[2:]:
            found = self._step(found, name)
        return found

    def _step(self, found: Found, name: str) -> Found:
        things: list[Thing] = []
        variables: list[tuple[str, str]] = []
        for thing in found.things:
            match thing:
                case ("m" | "n", target):
                    led = self.attribute(target, name)
                    things += led.things
                    variables += led.variables
                case ("x", dotted):
                    things.append(("x", f"{dotted}.{name}"))
                case ("c", path, descriptor):
                    member: Name | None = self.world.fact("member", path, f"{descriptor}{PART}{name}")
                    if member is not None:
                        things += [self.definition(path, own) for own in member.definitions]
        return Found(tuple(dict.fromkeys(things)), tuple(dict.fromkeys(variables)))
