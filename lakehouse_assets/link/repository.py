"""Links a repository: all of it, or what an update can have changed."""

import marshal
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from lakehouse_assets.core.collector import undisturbed
from lakehouse_assets.core.deep_calls import on_deep_stack
from lakehouse_assets.link.files import FileIndex, questions_about
from lakehouse_assets.link.keeping import Keeper, provided
from lakehouse_assets.link.keys import ELSEWHERE, MISSING, PART, number_of, number_of_bytes
from lakehouse_assets.link.modules import ModuleIndex
from lakehouse_assets.link.rounds import Record, Rounds
from lakehouse_assets.link.rows import EXPORTS, IMPORTS, LINKS, MODULES, RowMaker, module_rows
from lakehouse_assets.link.state import Columns, LinkState, StateRows, no_rows
from lakehouse_assets.link.world import OF_PATHS, Load, Neighbours, NoNeighbours, Read, World


@dataclass(frozen=True, kw_only=True)
class LinkResult:
    """Rows of the files that were linked anew; all other files' rows stay as they are."""

    relinked: dict[str, str]
    """Files whose rows are here, each with the reason."""
    gone: frozenset[str]
    """Files whose rows are to go."""
    modules: frozenset[str]
    """Files whose rows of `module_index` are here."""
    module_index: Columns = field(default_factory=lambda: no_rows(MODULES))
    exported_defs: Columns = field(default_factory=lambda: no_rows(EXPORTS))
    imports_resolved: Columns = field(default_factory=lambda: no_rows(IMPORTS))
    links: Columns = field(default_factory=lambda: no_rows(LINKS))
    state: StateRows = field(default_factory=StateRows)
    """What the next run needs; see `StateRows`."""
    solves: int = 0


def link_repository(
    *,
    repo: str,
    files: Mapping[str, str],
    load: Load,
    neighbours: Neighbours | None = None,
    previous: LinkState | None = None,
) -> LinkResult:
    """Links `files` (path to blob sha). With the state of an earlier run, only what could differ from it.

    `load` gives summaries by path and is asked for as few as possible.
    """

    def linked() -> LinkResult:
        linking = Linking(repo, files, load, neighbours or NoNeighbours(), previous)
        linking.started().run()
        return linking.finished()

    with undisturbed():
        return on_deep_stack(linked)


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A linking between two rounds: what its files read and told so far."""

    summaries: dict[str, int]
    records: dict[str, list[Record]]
    solves: int


class Linking:
    """One linking: started, its rounds run, and finished. `mine` are the files to link, None for all."""

    def __init__(
        self,
        repo: str,
        files: Mapping[str, str],
        load: Load,
        neighbours: Neighbours,
        previous: LinkState | None,
        mine: Collection[str] | None = None,
    ) -> None:
        self._repo = repo
        self._index = ModuleIndex(files)
        self._blobs = dict(files)
        self._paths = sorted(files)
        self._world = World(self._index, FileIndex(files), load, neighbours)
        self._neighbours = neighbours
        self._previous = previous
        self._mine = mine
        self._summaries: dict[str, int] = {}

    def started(self) -> Rounds:
        """The rounds, of which none has run."""
        self._fresh = fresh = self._found_fresh()
        old = self._previous.blobs if self._previous is not None else {}
        self._gone = frozenset(old).difference(self._blobs)
        solvable = {path: reason for path, reason in fresh.items() if self._is_solvable(path)}
        self._rounds = Rounds(self._world, self._previous, solvable, self._gone | (fresh.keys() - solvable.keys()))
        return self._rounds

    def resumed(self, kept: "Kept") -> Rounds:
        """The rounds as they were when `kept` was taken of them."""
        self._fresh = dict.fromkeys(sorted(kept.summaries), "first")
        self._gone = frozenset()
        self._summaries = kept.summaries
        self._rounds = Rounds(self._world, None, dict.fromkeys(kept.records, "first"), self._gone)
        self._rounds.records = kept.records
        self._rounds.solves = kept.solves
        return self._rounds

    def kept(self) -> "Kept":
        """What `resumed` needs to go on in another process, but for what was solved."""
        world = self._world
        for records in self._rounds.records.values():
            for record in records:
                if not all(each.__class__ is str for each in record.read):
                    record.read = frozenset(world.facts_behind(record.read))
        return Kept(summaries=self._summaries, records=self._rounds.records, solves=self._rounds.solves)

    def _found_fresh(self) -> dict[str, str]:
        """Files to be solved from the first round on, with the reason."""
        previous = self._previous
        world = self._world
        if previous is None:
            mine = self._paths if self._mine is None else sorted(self._mine)
            world.fetch(mine)
            for path in mine:
                self._summaries[path] = self._summary(path)
            return dict.fromkeys(mine, "first")
        edited = [path for path in self._paths if self._blobs[path] != previous.blobs.get(path)]
        self._fetch_with_consulted(previous, edited)
        fresh: dict[str, str] = {}
        dirty: dict[int, str] = {}
        for path in edited:
            self._summaries[path] = self._summary(path)
            if path not in previous.blobs:
                fresh[path] = "added"
            elif self._summaries[path] != previous.summaries[path]:
                fresh[path] = "edited"
            else:
                continue
            self._compare(previous.provided_by(path), provided(world, path), path, dirty)
        for path in sorted(previous.blobs.keys() - self._blobs.keys()):
            self._compare(previous.provided_by(path), {}, path, dirty)
        self._compare_modules(previous, dirty)
        for key, what in dirty.items():
            for path, _, _ in previous.readers(key):
                if path in self._blobs:
                    fresh.setdefault(path, f"read {what}")
        for name, readers in self._read_of_changed(previous):
            there = world.hash_of(name)
            for path, before in readers:
                if there != before and path in self._blobs:
                    fresh.setdefault(path, f"read {name.replace(PART, ' ').replace(ELSEWHERE, ':')}")
        self._fetch_with_consulted(previous, fresh)
        return fresh

    def _read_of_changed(self, previous: LinkState) -> list[tuple[str, list[tuple[str, int]]]]:
        """What was read of other repositories that may differ since, with the readers; their files are loaded ahead."""
        found: list[tuple[str, list[tuple[str, int]]]] = []
        wanted: list[str] = []
        for name, readers in previous.read_elsewhere().items():
            kind, owner, *_ = name.split(PART, 2)
            if self._neighbours.may_differ(owner.partition(ELSEWHERE)[0]):
                found.append((name, readers))
                wanted += [owner] if kind not in OF_PATHS else []
        self._world.fetch(wanted)
        return found

    def _fetch_with_consulted(self, previous: LinkState, paths: Iterable[str]) -> None:
        """In one go with what they consulted last time, which they most likely do again."""
        wanted = [other for path in paths for other in (path, *previous.consulted(path)) if other in self._blobs]
        self._world.fetch(wanted)

    def is_named(self, path: str) -> bool:
        """Whether a file is known by names only."""
        return self._world.named(path) is not None

    def _is_solvable(self, path: str) -> bool:
        return self._world.unit(path) is not None or self._world.named(path) is not None

    def _summary(self, path: str) -> int:
        named = self._world.named(path)
        if named is not None:
            return number_of_bytes(marshal.dumps(named, 2))
        unit = self._world.unit(path)
        return MISSING if unit is None else number_of_bytes(marshal.dumps(unit.summary, 2))

    @staticmethod
    def _compare(old: dict[int, int], new: dict[int, int], path: str, dirty: dict[int, str]) -> None:
        for key in sorted(old.keys() | new.keys()):
            if old.get(key) != new.get(key):
                dirty[key] = f"facts of {path}"

    def _compare_modules(self, previous: LinkState, dirty: dict[int, str]) -> None:
        if previous.blobs.keys() == self._blobs.keys():
            return
        for path in sorted(previous.blobs.keys() ^ self._blobs.keys()):
            for kind, name in questions_about(path):
                dirty[number_of(f"{kind}{PART}{name}")] = f"whether there is {name}"
        before, now = ModuleIndex(previous.blobs), self._index
        answers: list[tuple[str, Mapping[str, object], Mapping[str, object]]] = [
            ("at", before.at, now.at),
            ("top", before.top, now.top),
            ("offered", before.offers(), now.offers()),
        ]
        if before.package_roots != now.package_roots:
            old, new = ({path: index.name_of(path) for path in index.paths} for index in (before, now))
            answers.append(("module", old, new))
        for kind, old, new in answers:
            for name in sorted(old.keys() | new.keys()):
                if old.get(name) != new.get(name):
                    dirty[number_of(f"{kind}{PART}{name}")] = f"which file is {name}"

    def finished(self) -> LinkResult:
        """The rows, when all rounds have run."""
        rounds, fresh = self._rounds, self._fresh
        maker = RowMaker(self._repo, rounds.classes)
        relinked: dict[str, str] = {}
        keeper = Keeper(self._world, self._previous, self._blobs, self._summaries)
        for path in sorted(fresh.keys() | rounds.records.keys()):
            records = rounds.records.get(path)
            if records is None:
                relinked[path] = fresh[path]
                keeper.keep(path, [], frozenset())
                continue
            if path in fresh or keeper.ends_differently(path, records[-1]):
                relinked[path] = rounds.reasons[path]
            made = None
            if path in relinked:
                made = self._make_rows(maker, rounds, path)
            keeper.keep(path, records, made)
        for path, summary in self._summaries.items():
            if path not in keeper.state.solved:
                keeper.touch(path, summary)
        moved = self._moved()
        return LinkResult(
            relinked=relinked,
            gone=self._gone,
            modules=frozenset(moved if moved is not None else self._index.paths),
            module_index=module_rows(self._repo, moved, self._index),
            exported_defs=maker.exported,
            imports_resolved=maker.resolved,
            links=maker.links(),
            state=keeper.state,
            solves=rounds.solves,
        )

    def _make_rows(self, maker: RowMaker, rounds: Rounds, path: str) -> frozenset[Read]:
        """Makes a file's rows, and says what was read for it."""
        self._world.reading = set()
        named = self._world.named(path)
        if named is not None:
            maker.add_named(path, named["descriptors"], rounds.names[path])
        else:
            unit = self._world.unit(path)
            assert unit is not None
            maker.add(unit, rounds.program(path), rounds.solutions[path])
        return frozenset(self._world.reading)

    def _moved(self) -> set[str] | None:
        """Files whose names may differ from before; None for all."""
        if self._previous is None:
            return None if self._mine is None else set(self._mine)
        if self._previous.blobs.keys() == self._blobs.keys():
            return set()
        old = _by_path(ModuleIndex(self._previous.blobs))
        new = _by_path(self._index)
        return {path for path, names in new.items() if old.get(path) != names}


def _by_path(index: ModuleIndex) -> dict[str, list[tuple[str | bool, ...]]]:
    rows = index.rows()
    found: dict[str, list[tuple[str | bool, ...]]] = {}
    for path, *names in zip(rows.path, rows.module, rows.root, rows.is_package, rows.is_own, strict=True):
        found.setdefault(path, []).append(tuple(names))
    return found
