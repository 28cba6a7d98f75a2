"""What files say of themselves, read by other files, with every read noted: hits and misses alike.

Elementary facts are what one file (or the list of paths) says. Whatever is derived from them, through chains of
re-exports or up the bases of a class, is worked out on demand and remembered together with the facts that it came
from, so that a reader's read-set is exact however deep the chain.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from lakehouse_assets.link.files import FileIndex
from lakehouse_assets.link.keys import ELSEWHERE, PART, hash_of, number_of
from lakehouse_assets.link.modules import ModuleIndex
from lakehouse_assets.link.plain import as_flows
from lakehouse_assets.link.units import Unit

T = TypeVar("T")
Load = Callable[[Sequence[str]], Mapping[str, dict[str, Any]]]
Read = str | tuple[Any, ...]
"""A fact by its key, or something derived by its own."""
_NEVER = 1 << 30
OF_PATHS = frozenset({"at", "top", "module", "offered", "offering", "path", "suffix", "folder"})
"""Kinds of facts that follow from the list of paths, so that no file has to be loaded for them."""


class Neighbours(Protocol):
    """The other registered repositories, as far as imports can lead to them."""

    def offering(self, top: str) -> Sequence[str]:
        """The repositories that offer a top-level module, in a fixed order; not the one that is linked."""
        ...

    def may_differ(self, repo: str) -> bool:
        """Whether a repository may be other than when this one was linked last; the empty name: who offers what."""
        ...

    def paths(self, repo: str) -> Sequence[str]: ...

    def load(self, repo: str, paths: Sequence[str]) -> Mapping[str, dict[str, Any]]: ...


class NoNeighbours:
    """A repository on its own."""

    def offering(self, top: str) -> Sequence[str]:
        return ()

    def may_differ(self, repo: str) -> bool:
        return True

    def paths(self, repo: str) -> Sequence[str]:
        return ()

    def load(self, repo: str, paths: Sequence[str]) -> Mapping[str, dict[str, Any]]:
        return {}


class World:
    """Facts of the repository's files and, behind them, of its neighbours.

    Files of neighbours are known as `repo` + ELSEWHERE + `path`.
    """

    def __init__(self, index: ModuleIndex, files: FileIndex, load: Load, neighbours: Neighbours) -> None:
        self.index = index
        self.files = files
        self._load = load
        self._neighbours = neighbours
        self._indexes: dict[str, ModuleIndex] = {}
        self._units: dict[str, Unit | None] = {}
        self._named: dict[str, dict[str, Any]] = {}
        self._values: dict[str, Any] = {}
        self._hashes: dict[str, int] = {}
        self._memo: dict[Any, tuple[Any, tuple[Read, ...]]] = {}
        self._active: dict[Any, int] = {}
        self._members: dict[Any, tuple[Any, set[Read], int]] = {}
        """Results on a circle: with what they read, and how deep the circle was entered."""
        self._identities: dict[str, tuple[str, int, int]] = {}
        self._cut = _NEVER
        self.reading: set[Read] = set()
        """What was read since the reader put an empty set here; see `facts_behind`."""

    def index_of(self, repo: str) -> ModuleIndex:
        """Modules of a repository; the empty name is the one being linked."""
        if not repo:
            return self.index
        if repo not in self._indexes:
            self._indexes[repo] = ModuleIndex(self._neighbours.paths(repo))
        return self._indexes[repo]

    def fetch(self, paths: Sequence[str]) -> None:
        """Load files ahead, in one go for each repository."""
        wanted: dict[str, list[str]] = {}
        for path in sorted({*paths} - self._units.keys()):
            repo, mark, there = path.partition(ELSEWHERE)
            wanted.setdefault(repo if mark else "", []).append(there if mark else path)
        for repo, there in wanted.items():
            found = self._neighbours.load(repo, there) if repo else self._load(there)
            for path in there:
                self._take(f"{repo}{ELSEWHERE}{path}" if repo else path, found.get(path))

    def unit(self, path: str) -> Unit | None:
        """None for what is not there or has no summary that can be followed."""
        if path not in self._units:
            self.fetch([path])
        return self._units[path]

    def named(self, path: str) -> dict[str, Any] | None:
        """The summary of a file that is known by names only."""
        self.unit(path)
        return self._named.get(path)

    def _take(self, path: str, summary: dict[str, Any] | None) -> None:
        unit = None
        if summary is not None and "ops" in summary:
            unit = Unit(path, summary)
        elif summary is not None and summary.get("form") == "names":
            self._named[path] = summary
            if summary["language"] == "Python":
                unit = Unit(path, as_flows(summary))
        self._units[path] = unit

    def fact(self, kind: str, path: str, rest: str = "") -> Any:
        """An elementary fact, or None where there is none. `rest` is whatever names it within the file."""
        key = f"{kind}{PART}{path}{PART}{rest}" if rest else f"{kind}{PART}{path}"
        self.reading.add(key)
        try:
            return self._values[key]
        except KeyError:
            value = self._values[key] = self._say(kind, path, rest)
            return value

    def hash_of(self, key: str) -> int:
        """The hash of a fact by its key, read before or not."""
        found = self._hashes.get(key)
        if found is None:
            if key not in self._values:
                kind, path, *rest = key.split(PART, 2)
                self._values[key] = self._say(kind, path, rest[0] if rest else "")
            found = self._hashes[key] = hash_of(self._values[key])
        return found

    def identity(self, name: str) -> tuple[str, int, int]:
        """Of a fact: whose it is, its key as a number, and its hash."""
        found = self._identities.get(name)
        if found is None:
            found = self._identities[name] = (name.split(PART, 2)[1], number_of(name), self.hash_of(name))
        return found

    def _say(self, kind: str, path: str, rest: str) -> Any:
        repo, mark, there = path.partition(ELSEWHERE)
        if not mark:
            repo, there = "", path
        match kind:
            case "at":
                return self.index_of(repo).at.get(there)
            case "top":
                return self.index_of(repo).top.get(there)
            case "module":
                return self.index_of(repo).name_of(there)
            case "offered":
                return self.index_of(repo).offered(there)
            case "offering":
                return tuple(self._neighbours.offering(there))
            case "path":
                return self.files.has(path)
            case "suffix":
                return self.files.ending_in(path)
            case "folder":
                return self.files.in_folder(path)
        unit = self.unit(path)
        if unit is None:
            return None
        match kind:
            case "name":
                return unit.name(rest)
            case "stars":
                return unit.stars() or None
            case "names":
                return tuple(sorted(unit.names))
            case "all":
                return unit.all_names()
            case "class":
                return unit.bases(rest)
            case "member":
                descriptor, _, name = rest.partition(PART)
                return unit.member(descriptor, name)
            case "def":
                return unit.definition(rest)
            case _:
                return True

    def derived(self, key: tuple[Any, ...], otherwise: T, compute: Callable[..., T], *args: Any) -> T:
        """A result that follows from facts, with the facts noted; `otherwise` where it depends on itself.

        It is a function of its key, whatever was asked before. So nothing is remembered that lies on a circle (imports
        that lead back to where they started): what one member of it is depends on where the circle was entered. Within
        one way around, a member's result holds until the way is back where it entered.
        """
        known = self._memo.get(key)
        if known is not None:
            self.reading.add(key)
            return known[0]
        active = self._active
        depth = active.get(key)
        if depth is not None:
            self._cut = min(self._cut, depth)
            return otherwise
        member = self._members.get(key)
        if member is not None:
            self._cut = min(self._cut, member[2])
            self.reading |= member[1]
            return member[0]
        depth = active[key] = len(active)
        outer, self.reading = self.reading, set()
        outer_cut, self._cut = self._cut, _NEVER
        try:
            result = compute(*args)
        finally:
            del active[key]
        read, cut = self.reading, self._cut
        if cut == _NEVER:
            self._memo[key] = (result, tuple(read))
            outer.add(key)
        else:
            outer |= read
            self._members = {other: it for other, it in self._members.items() if it[2] < depth}
            if cut < depth:
                self._members[key] = (result, read, cut)
                outer_cut = min(outer_cut, cut)
        self._cut = outer_cut
        self.reading = outer
        return result

    def facts_behind(self, read: Iterable[Read]) -> set[str]:
        """The facts that were read, directly or for something that was derived from them."""
        facts: set[str] = set()
        seen: set[Read] = set()
        waiting = list(read)
        while waiting:
            item = waiting.pop()
            if item.__class__ is str:
                facts.add(item)  # pyright: ignore[reportArgumentType]
            elif item not in seen:
                seen.add(item)
                waiting.extend(self._memo[item][1])
        return facts
