"""Links a repository: all of it, or what an update can have changed."""

import marshal
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from lakehouse_assets.core.collector import undisturbed
from lakehouse_assets.link.files import FileIndex, questions_about
from lakehouse_assets.link.keys import ELSEWHERE, MISSING, PART, hash_of, number_of, number_of_bytes
from lakehouse_assets.link.modules import ModuleIndex
from lakehouse_assets.link.rounds import ROUNDS, Record, Rounds
from lakehouse_assets.link.rows import EXPORTS, IMPORTS, LINKS, MODULES, RowMaker, module_rows
from lakehouse_assets.link.state import Columns, LinkState, StateRows, no_rows
from lakehouse_assets.link.world import Load, Neighbours, NoNeighbours, Read, World

ROWS = 1 << ROUNDS
"""In the rounds of a read: it was read to make rows, behind all rounds."""


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
    with undisturbed():
        return _Linking(repo, files, load, neighbours or NoNeighbours(), previous).run()


class _Linking:
    def __init__(
        self, repo: str, files: Mapping[str, str], load: Load, neighbours: Neighbours, previous: LinkState | None
    ) -> None:
        self._repo = repo
        self._index = ModuleIndex(files)
        self._blobs = dict(files)
        self._paths = sorted(files)
        self._world = World(self._index, FileIndex(files), load, neighbours)
        self._previous = previous
        self._summaries: dict[str, int] = {}

    def run(self) -> LinkResult:
        fresh = self._fresh()
        old = self._previous.blobs if self._previous is not None else {}
        gone = frozenset(old).difference(self._blobs)
        solvable = {path: reason for path, reason in fresh.items() if self._is_solvable(path)}
        rounds = Rounds(self._world, self._previous, solvable, gone | (fresh.keys() - solvable.keys()))
        rounds.run()
        return self._result(rounds, fresh, gone)

    def _fresh(self) -> dict[str, str]:
        """Files to be solved from the first round on, with the reason."""
        previous = self._previous
        world = self._world
        if previous is None:
            world.fetch(self._paths)
            for path in self._paths:
                self._summaries[path] = self._summary(path)
            return dict.fromkeys(self._paths, "first")
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
            self._compare(previous.provided_by(path), self._provided(path), path, dirty)
        for path in sorted(previous.blobs.keys() - self._blobs.keys()):
            self._compare(previous.provided_by(path), {}, path, dirty)
        self._compare_modules(previous, dirty)
        for key, what in dirty.items():
            for path, _, _ in previous.readers(key):
                if path in self._blobs:
                    fresh.setdefault(path, f"read {what}")
        for name, readers in previous.read_elsewhere().items():
            there = world.hash_of(name)
            for path, before in readers:
                if there != before and path in self._blobs:
                    fresh.setdefault(path, f"read {name.replace(PART, ' ')}")
        self._fetch_with_consulted(previous, fresh)
        return fresh

    def _fetch_with_consulted(self, previous: LinkState, paths: Iterable[str]) -> None:
        """In one go with what they consulted last time, which they most likely do again."""
        wanted = [other for path in paths for other in (path, *previous.consulted(path)) if other in self._blobs]
        self._world.fetch(wanted)

    def _is_solvable(self, path: str) -> bool:
        return self._world.unit(path) is not None or self._world.named(path) is not None

    def _summary(self, path: str) -> int:
        named = self._world.named(path)
        if named is not None:
            return number_of_bytes(marshal.dumps(named, 2))
        unit = self._world.unit(path)
        return MISSING if unit is None else number_of_bytes(marshal.dumps(unit.summary, 2))

    def _provided(self, path: str) -> dict[int, int]:
        unit = self._world.unit(path)
        if unit is None:
            return {}
        found: dict[int, int] = {}
        for name, value in unit.provided().items():
            kind, _, rest = name.partition(PART)
            key = f"{kind}{PART}{path}{PART}{rest}" if rest else f"{kind}{PART}{path}"
            if value is not None:
                found[number_of(key)] = hash_of(value)
        return found

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
        before = ModuleIndex(previous.blobs)
        for kind, old, new in (("at", before.at, self._index.at), ("top", before.top, self._index.top)):
            for name in sorted(old.keys() | new.keys()):
                if old.get(name) != new.get(name):
                    dirty[number_of(f"{kind}{PART}{name}")] = f"which file is {name}"
        if before.package_roots != self._index.package_roots:
            for name in sorted(before.top.keys() | self._index.top.keys()):
                dirty.setdefault(number_of(f"top{PART}{name}"), f"which file is {name}")

    def _result(self, rounds: Rounds, fresh: dict[str, str], gone: frozenset[str]) -> LinkResult:
        maker = RowMaker(self._repo, rounds.classes)
        relinked: dict[str, str] = {}
        state = StateRows()
        for path in sorted(fresh.keys() | rounds.records.keys()):
            records = rounds.records.get(path)
            if records is None:
                relinked[path] = fresh[path]
                self._keep(state, path, [], frozenset())
                continue
            if path in fresh or self._ends_differently(path, records[-1]):
                relinked[path] = rounds.reasons[path]
            made = None
            if path in relinked:
                made = self._make_rows(maker, rounds, path)
            self._keep(state, path, records, made)
        for path, summary in self._summaries.items():
            if path not in state.solved:
                self._touch(state, path, summary)
        moved = self._moved()
        return LinkResult(
            relinked=relinked,
            gone=gone,
            modules=frozenset(moved if moved is not None else self._index.paths),
            module_index=module_rows(self._repo, moved, self._index),
            exported_defs=maker.exported,
            imports_resolved=maker.resolved,
            links=maker.links(),
            state=state,
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
            return None
        if self._previous.blobs.keys() == self._blobs.keys():
            return set()
        old = _by_path(ModuleIndex(self._previous.blobs))
        new = _by_path(self._index)
        return {path for path, names in new.items() if old.get(path) != names}

    def _ends_differently(self, path: str, record: Record) -> bool:
        """Whether a file's last solve read something else than the one its rows were made from."""
        assert self._previous is not None
        last = 1 << (ROUNDS - 1)
        before = {key: there for key, there, rounds in self._previous.read_by(path) if rounds & last}
        return before != dict(self._reads(path, record))

    def _reads(self, path: str, record: Record) -> Iterator[tuple[int, int]]:
        """Keys and hashes of what a solve read of the repository's other files."""
        yield from record.before.items()
        for name, there in record.names.items():
            yield number_of(name), there
        for name in self._world.facts_behind(record.read):
            owner, number, there = self._world.identity(name)
            if owner != path and ELSEWHERE not in owner:
                yield number, there

    def _keep(self, state: StateRows, path: str, records: list[Record], made: frozenset[Read] | None) -> None:
        """A file's rows of the state. `made` is what making its rows read; None: they stand, and so do their reads."""
        previous = self._previous
        state.solved.add(path)
        rounds_of: dict[tuple[int, int], int] = {}
        elsewhere: dict[tuple[str, int], int] = {}
        held: dict[int, int] = {}
        for number, record in enumerate(records):
            held[id(record)] = held.get(id(record), 0) | 1 << number
        solves = {id(record): record for record in records}
        for number, record in solves.items():
            self._note(path, record, held[number], rounds_of, elsewhere)
        if made is not None:
            self._note(path, Record(read=made), ROWS, rounds_of, elsewhere)
        if previous is not None:
            stands = 0 if made is not None else ROWS
            for key, there, rounds in previous.read_by(path) if stands else ():
                if rounds & stands:
                    rounds_of[key, there] = rounds_of.get((key, there), 0) | stands
            # Rounds before the one in which the file was woken.
            stands |= sum(1 << number for number, record in enumerate(records) if not record.is_new)
            for name, there, rounds in previous.elsewhere_of(path) if stands else ():
                if rounds & stands:
                    elsewhere[name, there] = elsewhere.get((name, there), 0) | rounds & stands
        summary = self._summaries.get(path)
        if summary is None:
            assert previous is not None
            summary = previous.summaries[path]
        self._touch(state, path, summary)
        state.add_reads(path, rounds_of)
        state.add_flows(path, [record.told for record in records])
        state.add_provided(path, self._provided(path))
        for (name, there), rounds in sorted(elsewhere.items()):
            _append(state.elsewhere, (path, name, there, rounds))

    def _note(
        self,
        path: str,
        record: Record,
        rounds: int,
        rounds_of: dict[tuple[int, int], int],
        elsewhere: dict[tuple[str, int], int],
    ) -> None:
        """Adds what a solve read, of this repository and of others."""
        for entry in self._reads(path, record):
            rounds_of[entry] = rounds_of.get(entry, 0) | rounds
        if self._world.others():
            for name in self._world.facts_behind(record.read):
                owner, _, there = self._world.identity(name)
                if ELSEWHERE in owner:
                    elsewhere[name, there] = elsewhere.get((name, there), 0) | rounds

    def _touch(self, state: StateRows, path: str, summary: int) -> None:
        _append(state.files, (path, self._blobs[path], summary))


def _append(columns: Columns, row: tuple[Any, ...]) -> None:
    for column, value in zip(columns.values(), row, strict=True):
        column.append(value)


def _by_path(index: ModuleIndex) -> dict[str, list[tuple[str | bool, ...]]]:
    rows = index.rows()
    found: dict[str, list[tuple[str | bool, ...]]] = {}
    for path, *names in zip(rows.path, rows.module, rows.root, rows.is_package, rows.is_own, strict=True):
        found.setdefault(path, []).append(tuple(names))
    return found
