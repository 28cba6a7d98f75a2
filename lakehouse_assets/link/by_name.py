"""Calls and bases of files that are known by names only: matched by spelling, and said to be guesses.

A bare name is looked for in the file itself, then where an import says it comes from, then in the same folder, then in
the repository, and counts only where it is the only one of its kind and language. A member is looked for only where its
receiver is known by name: the type around the call, a type of the file, or what an import names. What a variable holds
is not known here, so that a call of its member is unresolved.
"""

from typing import Any, NamedTuple

from lakehouse_assets.link.engine import Oracle, capped, thing_of
from lakehouse_assets.link.files import GO_TEST
from lakehouse_assets.link.imports import Imports, Landing, Thing
from lakehouse_assets.link.keys import PART
from lakehouse_assets.link.members import as_thing, distinct, fits, is_callable, is_in, only, type_around, type_of
from lakehouse_assets.link.modules import folder_of
from lakehouse_assets.link.named_imports import SCRIPTS, go_folder, is_go_standard, is_local, target_of
from lakehouse_assets.link.program import At
from lakehouse_assets.link.units import Import
from lakehouse_assets.link.world import Read

_TOGETHER = {"TypeScript": "JavaScript", "TSX": "JavaScript", "JSX": "JavaScript", "C++": "C", "Kotlin": "Java"}
"""Languages whose files call each other's functions."""
_OWN = frozenset({"this", "self", "Self", "cls", "$this"})
_MODULES_BY_NAME = frozenset({"Rust"})
"""Languages in which an imported name may be a module."""


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
        self._module_path: dict[str, tuple[str, ...]] = {}
        self._own: dict[str, list[str]] = {}
        for d, name, _, _ in summary["definitions"]:
            if is_callable(self._descriptors[d]):
                self._own.setdefault(name, []).append(self._descriptors[d])

    def solve(self) -> Names:
        world = self._imports.world
        world.reading = set()
        imports = self._all_imports()
        imported = {one.name: one for one in imports if one.name}
        calls: list[tuple[At, Thing, str, str]] = []
        for d, n, name, receiver in self._summary["calls"]:
            found = self._find(d, name, receiver, imported, types_only=False)
            if found is not None:
                calls.append(((d, n), *found))
        bases: list[tuple[At, Thing, str, str]] = []
        for d, name in self._summary["bases"]:
            plain = name.replace("::", ".").rpartition(".")[2]
            found = self._find(d, plain, None, imported, types_only=True)
            if found is not None and found[0] != ("c", self._path, self._descriptors[d]):
                bases.append(((d, 0), *found))
        return Names(imports, calls, bases, self._told(), frozenset(world.reading))

    def _told(self) -> dict[str, tuple[str, ...]]:
        """Definitions by name, for the folder and for the repository."""
        told: dict[str, tuple[str, ...]] = dict(self._module_path)
        for name, descriptors in self._own.items():
            texts = capped("n", {PART.join(as_thing(self._path, descriptor)) for descriptor in descriptors})
            told[self._key(name)] = texts
            told[self._key(name, self._folder)] = texts
        return told

    def _key(self, name: str, folder: str | None = None) -> str:
        place = "*" if folder is None else f"/{folder}"
        return PART.join(("n", _TOGETHER.get(self._language, self._language), place, name))

    def _find(
        self, d: int, name: str, receiver: str | None, imported: dict[str, NamedImport], *, types_only: bool
    ) -> tuple[Thing, str, str] | None:
        if receiver is not None:
            return self._member(d, name, receiver, imported)
        own = distinct(
            [as_thing(self._path, o) for o in self._own.get(name, ()) if self._is_in_scope(o, d, types_only)]
        )
        if own:
            return (own[0], "name", "guess") if len(own) == 1 else None
        source = imported.get(name)
        if source is not None and source.target is not None:
            return self._imported(name, source, source.target, types_only)
        for key in self._around(name):
            found = distinct([t for t in self._named(key) if fits(t[2], types_only) and not type_of(t[2])])
            if found:
                return (found[0], "name", "guess") if len(found) == 1 else None
        return None

    def _is_in_scope(self, descriptor: str, d: int, types_only: bool) -> bool:
        """Whether a bare name in a definition of the file can mean another one of it."""
        around = type_of(descriptor)
        if not around or descriptor.endswith("#"):
            return fits(descriptor, types_only)
        is_inside: bool = self._descriptors[d].startswith(around)
        return not types_only and is_inside and self._summary["members_in_scope"]

    def _around(self, name: str) -> tuple[str, ...]:
        """Where a bare name may come from that is neither defined nor imported here: nowhere, in a script's module."""
        is_module = self._language in SCRIPTS and (self._summary["imports"] or self._summary["exports"])
        return () if is_module else (self._key(name, self._folder), self._key(name))

    def _imported(
        self, name: str, source: NamedImport, target: Thing, types_only: bool
    ) -> tuple[Thing, str, str] | None:
        if target[0] != "m":
            return target, "import", "likely"
        said = name if source.said in ("", "*", "default") else source.said
        found = self._in_file(said, target[1])
        return only([t for t in found if fits(t[2], types_only) and not type_of(t[2])], "import", "likely")

    def _member(
        self, d: int, name: str, receiver: str, imported: dict[str, NamedImport]
    ) -> tuple[Thing, str, str] | None:
        """A member is found where its receiver is known: the type around the call, a type by its name, a module."""
        if receiver in _OWN:
            around = type_around(self._descriptors[d])
            own = [as_thing(self._path, o) for o in self._own.get(name, ()) if around and type_of(o) == around]
            return only(own, "name", "guess")
        source = imported.get(receiver)
        if source is None or source.target is None:
            own = [as_thing(self._path, o) for o in self._own.get(name, ()) if is_in(type_of(o), receiver)]
            return only(own, "name", "guess")
        kind, place, *rest = source.target
        found = self._in_file(name, place)
        if kind == "m" and (source.said in ("", "*") or self._language in _MODULES_BY_NAME):
            whole = [thing for thing in found if not type_of(thing[2])]
            if whole or source.said in ("", "*"):
                return only(whole, "import", "likely")
        of = rest[0].rstrip("#").rpartition("#")[2] if rest else source.said
        return only([thing for thing in found if is_in(type_of(thing[2]), of)], "import", "likely")

    def _in_file(self, name: str, place: str) -> list[Thing]:
        """What is called so in a file; of Go in its folder, whose files are one package."""
        found = self._named(self._key(name, folder_of(place)))
        if self._language == "Go":
            return [thing for thing in found if not thing[1].endswith(GO_TEST)]
        return [thing for thing in found if thing[1] == place]

    def _named(self, key: str) -> list[Thing]:
        return [thing for text in self._oracle(key) if len(thing := thing_of(text)) > 2]

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
                    where = self._outside(module, kind)
                found.append(NamedImport((d, n), name, known, module, where, landed))
        return self._of_own_module(found) if self._language == "Go" else found

    def _outside(self, module: str, kind: str) -> str:
        if self._language == "Go" and is_go_standard(module):
            return "standard_library"
        return "unresolved" if is_local(self._language, module, kind) else "third_party"

    def _of_own_module(self, imports: list[NamedImport]) -> list[NamedImport]:
        """Imports of a Go file, with the kind of those that lead into its own module.

        What `go.mod` says is not known here. The module's path is what stands before the folder in imports that were
        found; files tell it to each other with the folder that it stands for, and it counts if all tell the same.
        """
        own: set[str] = set()
        for one in imports:
            folder = folder_of(one.target[1]) if one.target is not None else ""
            tails = [folder[i:] for i in range(len(folder)) if i == 0 or folder[i - 1] == "/"]
            tail = next((tail for tail in tails if one.module.endswith(f"/{tail}")), None)
            if tail is not None:
                own.add(f"{folder.removesuffix(tail)}:{one.module.removesuffix(f'/{tail}')}")
        key = self._key("", "go.mod")
        self._module_path = {key: capped("n", own)} if own else {}
        all_told = own.union(self._oracle(key))
        if len(all_told) != 1:
            return imports
        root, _, module = all_told.pop().partition(":")
        top = go_folder(self._imports.world, root.rstrip("/"))
        return [
            one._replace(kind="first_party", target=("m", top))
            if one.module == module and top is not None
            else one._replace(kind="unresolved")
            if one.target is None and f"{one.module}/".startswith(f"{module}/")
            else one
            for one in imports
        ]

    def _python(self, d: int, n: int, module: str, name: str, known: str) -> NamedImport:
        plain = module.lstrip(".")
        said = Import(len(module) - len(plain), plain, name or None, bool(name) or "." not in plain)
        landing: Landing = self._imports.landing(self._path, said)
        inside = [thing for thing in landing.found.things if thing[0] in "fcm"]
        target = inside[0] if inside else None
        return NamedImport((d, n), name, known, landing.module, landing.kind, target, landing.source)
