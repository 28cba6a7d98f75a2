"""What a linking keeps of each file, so that the next one links only what could differ."""

from collections.abc import Iterator, Mapping
from typing import Any

from lakehouse_assets.link.keys import ELSEWHERE, PART, hash_of, number_of
from lakehouse_assets.link.rounds import ROUNDS, Record
from lakehouse_assets.link.state import Columns, LinkState, StateRows
from lakehouse_assets.link.world import Read, World

MODULE_NAME = f"module{PART}"
"""Begins the facts of which name a file has as a module: other files decide that, so its own is a read as well."""

ROWS = 1 << ROUNDS
"""In the rounds of a read: it was read to make rows, behind all rounds."""


class Keeper:
    """Collects the rows of the state, file by file."""

    def __init__(
        self, world: World, previous: LinkState | None, blobs: Mapping[str, str], summaries: Mapping[str, int]
    ) -> None:
        self._world = world
        self._previous = previous
        self._blobs = blobs
        self._summaries = summaries
        self.state = StateRows()

    def ends_differently(self, path: str, record: Record) -> bool:
        """Whether a file's last solve read something else than the one its rows were made from."""
        assert self._previous is not None
        last = 1 << (ROUNDS - 1)
        before = {key: there for key, there, rounds in self._previous.read_by(path) if rounds & last}
        return before != dict(self._reads(path, record))

    def keep(self, path: str, records: list[Record], made: frozenset[Read] | None) -> None:
        """A file's rows of the state. `made` is what making its rows read; None: they stand, and so do their reads."""
        previous, state = self._previous, self.state
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
        self.touch(path, summary)
        state.add_reads(path, rounds_of)
        state.add_flows(path, [record.told for record in records])
        state.add_provided(path, provided(self._world, path))
        for (name, there), rounds in sorted(elsewhere.items()):
            _append(state.elsewhere, (path, name, there, rounds))

    def touch(self, path: str, summary: int) -> None:
        _append(self.state.files, (path, self._blobs[path], summary))

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
        for name in self._world.facts_behind(record.read):
            owner, _, there = self._world.identity(name)
            if ELSEWHERE in owner:
                elsewhere[name, there] = elsewhere.get((name, there), 0) | rounds

    def _reads(self, path: str, record: Record) -> Iterator[tuple[int, int]]:
        """Keys and hashes of what a solve read of the repository's other files, and of the file's own module name."""
        yield from record.before.items()
        for name, there in record.names.items():
            yield number_of(name), there
        for name in self._world.facts_behind(record.read):
            owner, number, there = self._world.identity(name)
            if (owner != path or name.startswith(MODULE_NAME)) and ELSEWHERE not in owner:
                yield number, there


def provided(world: World, path: str) -> dict[int, int]:
    """By key the hash of all that a file says to others."""
    unit = world.unit(path)
    if unit is None:
        return {}
    found: dict[int, int] = {}
    for name, value in unit.provided().items():
        kind, _, rest = name.partition(PART)
        key = f"{kind}{PART}{path}{PART}{rest}" if rest else f"{kind}{PART}{path}"
        if value is not None:
            found[number_of(key)] = hash_of(value)
    return found


def _append(columns: Columns, row: tuple[Any, ...]) -> None:
    for column, value in zip(columns.values(), row, strict=True):
        column.append(value)
