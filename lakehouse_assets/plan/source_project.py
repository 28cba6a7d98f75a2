"""The modules of one package, and what each of their names leads to.

What the text cannot tell is not followed: code of other modules that is handed in as an argument, or that registers
itself with a module without being named by it.

A module's index is kept beside its compiled code, under the hash of its source, as the interpreter keeps that: parsing
all modules that assets reach would take longer than all else that an update without changes does.
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lakehouse_assets.plan import canonical_sql, source_index, source_text
from lakehouse_assets.plan.kept import Kept
from lakehouse_assets.plan.source_index import EFFECTS, Binding, Link, ModuleIndex, index_module
from lakehouse_assets.plan.source_text import Chain

_LOOKS_UP_NAMES = frozenset({"globals", "eval", "exec", "__import__", "import_module"})
_DUNDERS = frozenset({"__name__", "__file__", "__doc__"})

Name = tuple[str, str]
"""A name with its module."""


class Project:
    """Modules are read as they are asked for, once for the life of the process.

    A process runs the code it has loaded, so a file that changes meanwhile is none of its business.
    """

    def __init__(self, package: str, folder: Path) -> None:
        self.package = package
        self._folder = folder
        self._indexes: dict[str, ModuleIndex | None] = {}
        self._uses: dict[Name, frozenset[Name]] = {}
        self._kept: Kept | None = None

    def index(self, module: str) -> ModuleIndex | None:
        """The module of this name; None if it is none of the project's."""
        if module not in self._indexes:
            self._indexes[module] = self._read(module)
        return self._indexes[module]

    def meaning(self, module: str, name: str) -> str:
        """Fingerprint of what a module's name means by itself; empty for one that is imported."""
        index = self.index(module)
        binding = index.bindings.get(name) if index is not None else None
        return binding.fingerprint if binding is not None else ""

    def uses(self, module: str, name: str) -> frozenset[Name]:
        """The names that a module's name leads to."""
        key = (module, name)
        if key not in self._uses:
            index = self.index(module)
            found: set[Name] = set()
            if index is not None:
                if name in index.bindings:
                    found |= self._used(index, index.bindings[name])
                for link in index.links.get(name, ()):
                    found |= self._linked(link, ())
            self._uses[key] = frozenset(found)
        return self._uses[key]

    def whole(self, module: str) -> set[Name]:
        index = self.index(module)
        return set() if index is None else {(module, name) for name in index.names}

    def keep(self) -> None:
        """Keep what was read for other processes."""
        if self._kept is not None:
            self._kept.save()

    def _read(self, module: str) -> ModuleIndex | None:
        first, *rest = module.split(".")
        if first != self.package:
            return None
        place = self._folder.joinpath(*rest)
        source, is_package = place / "__init__.py", True
        if not source.is_file():
            source, is_package = place.with_name(f"{place.name}.py"), False
            if not rest or not source.is_file():
                return None
        if self._kept is None:
            self._kept = Kept(self._folder, ".meanings", _makers())
        text = source.read_bytes()
        digest = sha256(text).digest()
        kept = self._kept.get(module, digest)
        if kept is not None:
            return _from_plain(module, kept)
        made = index_module(module, text.decode(), is_package=is_package)
        self._kept.put(module, digest, _plain(made))
        return made

    def _used(self, index: ModuleIndex, binding: Binding) -> set[Name]:
        inner: dict[str, list[Link]] = {}
        for bound, link in binding.inner:
            inner.setdefault(bound, []).append(link)
        found: set[Name] = set()
        for chain in binding.chains:
            if chain[0] in _LOOKS_UP_NAMES or chain[-1] in _LOOKS_UP_NAMES:
                found |= self.whole(index.name)
            for link in inner.get(chain[0], ()):
                found |= self._linked(link, chain[1:])
            found |= self._named(index, chain)
        return found

    def _named(self, index: ModuleIndex, chain: Chain, seen: frozenset[str] = frozenset()) -> set[Name]:
        """What a chain of names means in a module; nothing if its first name is not bound there (a builtin)."""
        name = chain[0]
        found: set[Name] = {(index.name, name)} if name in index.bindings else set()
        for link in index.links.get(name, ()):
            found |= self._linked(link, chain[1:])
        if not found and name not in index.links:
            for star in index.stars:
                starred = self.index(star)
                if starred is not None and star not in seen:
                    found |= self._named(starred, chain, seen | {index.name})
        return found

    def _linked(self, link: Link, rest: Chain) -> set[Name]:
        index = self.index(link.module)
        if index is None:
            return set()
        chain = rest if link.name is None else (link.name, *rest)
        if not chain:
            return self.whole(link.module)
        if chain[0] in index.bindings or chain[0] in index.links:
            return self._named(index, chain)
        inner = f"{link.module}.{chain[0]}"
        if index.is_package and self.index(inner) is not None:
            return self._linked(Link(module=inner, name=None), chain[1:])
        if chain[0] in _DUNDERS:
            return {(link.module, EFFECTS)}
        return self._named(index, chain) or self.whole(link.module)


def _makers() -> Iterator[bytes]:
    """What reads a source decides what is read in it."""
    for module in (source_text, source_index, canonical_sql):
        yield Path(str(module.__file__)).read_bytes()
    yield version(canonical_sql.LIBRARY).encode()


def _plain(index: ModuleIndex) -> Any:
    return (
        index.is_package,
        {
            name: (each.fingerprint, tuple(sorted(each.chains)), tuple((b, k.module, k.name) for b, k in each.inner))
            for name, each in index.bindings.items()
        },
        {name: tuple((link.module, link.name) for link in links) for name, links in index.links.items()},
        index.stars,
    )


def _from_plain(module: str, held: Any) -> ModuleIndex:
    is_package, bindings, links, stars = held
    return ModuleIndex(
        name=module,
        is_package=is_package,
        bindings=_Lazily(bindings),
        links={name: tuple(Link(module=target, name=part) for target, part in each) for name, each in links.items()},
        stars=stars,
    )


class _Lazily(Mapping[str, Binding]):
    """Bindings as they were kept, made when they are asked for: most of a module's names are not."""

    def __init__(self, held: Mapping[str, Any]) -> None:
        self._held = held
        self._made: dict[str, Binding] = {}

    def __getitem__(self, name: str) -> Binding:
        if name not in self._made:
            digest, chains, inner = self._held[name]
            links = tuple((bound, Link(module=module, name=part)) for bound, module, part in inner)
            self._made[name] = Binding(fingerprint=digest, chains=frozenset(chains), inner=links)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._held

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)
