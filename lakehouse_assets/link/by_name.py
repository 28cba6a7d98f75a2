"""Calls and bases of files that are known by names only: matched by spelling, and said to be guesses.

A name is looked for in the file itself, then where an import says it comes from, then in the same folder, then in the
repository, and counts only where it is the only one of its kind and language.
"""

from typing import Any, NamedTuple

from lakehouse_assets.link.engine import Oracle, capped, thing_of
from lakehouse_assets.link.imports import Imports, Landing, Thing
from lakehouse_assets.link.keys import PART
from lakehouse_assets.link.modules import folder_of
from lakehouse_assets.link.named_imports import is_local, target_of
from lakehouse_assets.link.program import At
from lakehouse_assets.link.units import Import
from lakehouse_assets.link.world import Read

_TOGETHER = {"TypeScript": "JavaScript", "TSX": "JavaScript", "JSX": "JavaScript", "C++": "C", "Kotlin": "Java"}
"""Languages whose files call each other's functions."""
_OWN = frozenset({"this", "self", "Self", "super", "cls"})


class NamedImport(NamedTuple):
    """One imported name: the node, what was said, and where it lands."""

    at: At
    said: str
    """The name as the other file has it; empty for the whole file."""
    name: str
    """The name as it is known here."""
    module: str
    kind: str
    target: Thing | None
    source: str | None = None
    """The module that it imports, or imports from, if that is another."""


class Names(NamedTuple):
    """What was found of a file, in the form of rows to be."""

    imports: list[NamedImport]
    calls: list[tuple[At, Thing, str, str]]
    """Node, target, method and confidence."""
    bases: list[tuple[At, Thing, str, str]]
    told: dict[str, tuple[str, ...]]
    read: frozenset[Read]


def is_named(summary: dict[str, Any] | None) -> bool:
    return summary is not None and summary.get("form") == "names"


class ByName:
    """One run over one file."""

    def __init__(self, path: str, summary: dict[str, Any], imports: Imports, oracle: Oracle) -> None:
        self._path = path
        self._summary = summary
        self._language: str = summary["language"]
        self._imports = imports
        self._oracle = oracle
        self._descriptors: list[str] = summary["descriptors"]
        self._folder = folder_of(path)
        self._own: dict[str, list[str]] = {}
        for d, name, _, _ in summary["definitions"]:
            if _is_callable(self._descriptors[d]):
                self._own.setdefault(name, []).append(self._descriptors[d])

    def solve(self) -> Names:
        world = self._imports.world
        world.reading = set()
        imports = self._all_imports()
        from_where = {one.name: one.target for one in imports if one.target is not None and one.name}
        calls: list[tuple[At, Thing, str, str]] = []
        for d, n, name, receiver in self._summary["calls"]:
            found = self._find(name, receiver, from_where, types_only=False)
            if found is not None:
                calls.append(((d, n), *found))
        bases: list[tuple[At, Thing, str, str]] = []
        for d, name in self._summary["bases"]:
            plain = name.replace("::", ".").rpartition(".")[2]
            found = self._find(plain, None, from_where, types_only=True)
            if found is not None and found[0] != ("c", self._path, self._descriptors[d]):
                bases.append(((d, 0), *found))
        return Names(imports, calls, bases, self._told(), frozenset(world.reading))

    def _told(self) -> dict[str, tuple[str, ...]]:
        """Definitions by name, for the folder and for the repository."""
        told: dict[str, tuple[str, ...]] = {}
        for name, descriptors in self._own.items():
            texts = capped("n", {PART.join(_thing(self._path, descriptor)) for descriptor in descriptors})
            told[self._key(name)] = texts
            told[self._key(name, self._folder)] = texts
        return told

    def _key(self, name: str, folder: str | None = None) -> str:
        place = "*" if folder is None else f"/{folder}"
        return PART.join(("n", _TOGETHER.get(self._language, self._language), place, name))

    def _find(
        self, name: str, receiver: str | None, from_where: dict[str, Thing], *, types_only: bool
    ) -> tuple[Thing, str, str] | None:
        own = [d for d in self._own.get(name, ()) if not types_only or d.endswith("#")]
        if len(own) == 1 and (receiver is None or receiver in _OWN):
            return _thing(self._path, own[0]), "name", "guess"
        source = from_where.get(name if receiver is None else receiver.partition(".")[0].partition("::")[0])
        if source is not None:
            place = source[1]
            if source[0] != "m" and receiver is None:
                return source, "import", "likely"
            named = self._named(self._key(name, folder_of(place)), types_only)
            there = [thing for thing in named if thing[1] == place]
            if len(there) == 1:
                return there[0], "import", "likely"
        if own:
            return None  # several of its own: any other is less likely than each of these
        for key in (self._key(name, self._folder), self._key(name)):
            found = self._named(key, types_only)
            if found:
                return (found[0], "name", "guess") if len(found) == 1 else None
        return None

    def _named(self, key: str, types_only: bool) -> list[Thing]:
        found = [thing_of(text) for text in self._oracle(key)]
        return [thing for thing in found if not types_only or thing[0] == "c"]

    def _all_imports(self) -> list[NamedImport]:
        found: list[NamedImport] = []
        for d, n, module, names, alias, kind in self._summary["imports"]:
            said = [(name, shown) for name, shown in names] or [("", alias)]
            for name, shown in said:
                known = shown or name or module.replace("::", "/").rpartition("/")[2]
                if self._language == "Python":
                    found.append(self._python(d, n, module, name, known))
                    continue
                target = target_of(self._imports.world, self._path, self._language, module, name or None, kind)
                if target is not None:
                    landed: Thing | None = ("m", target)
                    where = "first_party"
                else:
                    landed = None
                    where = "unresolved" if is_local(self._language, module, kind) else "third_party"
                found.append(NamedImport((d, n), name, known, module, where, landed))
        return found

    def _python(self, d: int, n: int, module: str, name: str, known: str) -> NamedImport:
        plain = module.lstrip(".")
        said = Import(len(module) - len(plain), plain, name or None, bool(name) or "." not in plain)
        landing: Landing = self._imports.landing(self._path, said)
        inside = [thing for thing in landing.found.things if thing[0] in "fcm"]
        target = inside[0] if inside else None
        source = None if landing.source is None or landing.source.endswith("/") else landing.source
        return NamedImport((d, n), name, known, landing.module, landing.kind, target, source)


def _is_callable(descriptor: str) -> bool:
    return descriptor.endswith((").", "#", "!"))


def _thing(path: str, descriptor: str) -> Thing:
    return ("c" if descriptor.endswith("#") else "f", path, descriptor)
