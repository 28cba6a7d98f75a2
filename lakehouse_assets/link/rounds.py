"""Files solved in rounds, each with what all files told in the round before: a pure function of the files' facts.

Round 0 knows nothing of other files' variables. In each further round every file is solved with what all others told
in the one before. After the last round it ends: values cross at most that many borders between files, by definition.
A file whose inputs are those of the round before is not solved again, and neither is one that was solved with the same
inputs in an earlier run: each solve is recorded with the hashes of what it read.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from lakehouse_assets.link.by_name import ByName, Names
from lakehouse_assets.link.classes import Classes
from lakehouse_assets.link.engine import MARKS, capped
from lakehouse_assets.link.heard import Heap, Heard, Told, owner_of
from lakehouse_assets.link.imports import Imports
from lakehouse_assets.link.keys import PART, hash_of_values, number_of
from lakehouse_assets.link.program import Program
from lakehouse_assets.link.solver import HANDLERS, Solution, solve
from lakehouse_assets.link.start import Start
from lakehouse_assets.link.state import LinkState
from lakehouse_assets.link.world import Read, World

ROUNDS = 5


@dataclass(kw_only=True)
class Record:
    """One solve: what it read, with hashes, and what it told."""

    before: dict[int, int] = field(default_factory=dict)
    """Of a solve of an earlier run: all keys that it read, with the hash of what was there."""
    names: dict[str, int] = field(default_factory=dict)
    """Of a solve of this run: variables of other files and the inbox, with the hash of what was in them."""
    read: frozenset[Read] = frozenset()
    """Facts, and what was derived from facts; see `World.facts_behind`."""
    told: Told = field(default_factory=dict)
    is_new: bool = False


def inbox_key(path: str) -> str:
    return f"inbox{PART}{path}"


class Rounds:
    """Runs all rounds. `fresh` files are solved in every round, others when what they read differs."""

    def __init__(self, world: World, previous: LinkState | None, fresh: Mapping[str, str], gone: Set[str]) -> None:
        self.world = world
        self.classes = Classes(Imports(world))
        self._previous = previous
        self._gone = gone
        self.reasons: dict[str, str] = dict(fresh)
        self.records: dict[str, list[Record]] = {path: [] for path in sorted(fresh)}
        """Per file that is solved in this run: its record of each round."""
        self.solutions: dict[str, Solution] = {}
        self.names: dict[str, Names] = {}
        """The same of files that are known by names only."""
        self._programs: dict[str, Program] = {}
        self._starts: dict[str, Start] = {}
        self.told: list[Heap] = [Heap() for _ in range(ROUNDS)]
        """Per round: what this run's files told."""
        self.heard: list[Heard] = list(self.told)
        """Per round: what files hear of it in the next; of other processes' files as well, where there are any."""
        self._changed: dict[str, None] = {}
        self._old_told: dict[str, list[dict[str, tuple[str, ...]]]] = {}
        self._old_tellers: dict[str, list[tuple[str, str, int]]] = {}
        self._old_boxes: dict[str, dict[str, None]] = {}
        self.solves = 0

    def run(self) -> None:
        for number in range(ROUNDS):
            self.solve(number)

    def solve(self, number: int) -> None:
        """One round."""
        if number:
            for path in self._woken(number):
                self.records[path] = self._old_records(path, number)
        for path in sorted(self.records):
            before = self.records[path]
            inbox = self._inbox(path, number)
            if before and before[-1].is_new and self._is_same(path, before[-1], inbox, number):
                record = before[-1]
            else:
                record = self._solve(path, inbox, number)
            before.append(record)
            self.told[number].add(path, record.told)
        if number:  # the next round asks for this one's only
            self.told[number - 1] = self.heard[number - 1] = Heap()
        self._changed = self._differences(number)

    def program(self, path: str) -> Program:
        program = self._programs.get(path)
        if program is None:
            unit = self.world.unit(path)
            assert unit is not None, path
            program = self._programs[path] = Program(unit, HANDLERS)
        return program

    def _solve(self, path: str, inbox: dict[str, tuple[str, ...]], number: int) -> Record:
        seen: dict[str, int] = {}

        def oracle(name: str) -> tuple[str, ...]:
            values = self._values(name, path, number)
            seen[name] = hash_of_values(values)
            return values

        self.solves += 1
        summary = self.world.named(path)
        if summary is not None:
            names = self.names[path] = ByName(path, summary, self.classes.imports, oracle).solve()
            seen[inbox_key(path)] = _box_hash(inbox)
            return Record(names=seen, read=names.read, told=names.told, is_new=True)
        unit = self.world.unit(path)
        assert unit is not None, path
        program = self.program(path)
        if path not in self._starts:
            self._starts[path] = Start(unit, program, self.classes)
            unit.forget_operations()
        solution = solve(unit, program, self._starts[path], self.classes, inbox, oracle)
        self.solutions[path] = solution._replace(read=frozenset(), told={})
        seen[inbox_key(path)] = _box_hash(inbox)
        return Record(names=seen, read=solution.read, told=solution.told, is_new=True)

    def _values(self, name: str, reader: str, number: int) -> tuple[str, ...]:
        """What files other than the reader put into a variable in the round before."""
        if number == 0:
            return ()
        found: set[str] = set()
        for path, values in self.heard[number - 1].of(name).items():
            if path != reader:
                found.update(values)
        if self._previous is not None:
            bit = 1 << (number - 1)
            for path, value, rounds in self._tellers(name):
                if rounds & bit and path != reader and path not in self.records and path not in self._gone:
                    found.add(value)
        # Who overrides a method is not told when there are many, but that there are.
        hidden = () if name[0] == "v" else MARKS
        return tuple(value for value in capped(name[0], found) if value not in hidden)

    def _inbox(self, path: str, number: int) -> dict[str, tuple[str, ...]]:
        if number == 0:
            return {}
        names = dict.fromkeys(self.heard[number - 1].to(path))
        if self._previous is not None:
            names.update(self._box_before(path))
        found = {name: self._values(name, path, number) for name in sorted(names)}
        return {name: values for name, values in found.items() if values}

    def _tellers(self, name: str) -> list[tuple[str, str, int]]:
        """Who put what into a variable before: asked in every round, and for the most part by the same files."""
        found = self._old_tellers.get(name)
        if found is None:
            assert self._previous is not None
            found = self._old_tellers[name] = self._previous.tellers(number_of(name))
        return found

    def _box_before(self, path: str) -> dict[str, None]:
        """A file's variables that files wrote to before."""
        found = self._old_boxes.get(path)
        if found is None:
            assert self._previous is not None
            found = self._old_boxes[path] = {name: None for _, name, _, _ in self._previous.told_to(path)}
        return found

    def _is_same(self, path: str, record: Record, inbox: dict[str, tuple[str, ...]], number: int) -> bool:
        """Whether a solve with this round's inputs would read what the record read."""
        box = inbox_key(path)
        for name, there in record.names.items():
            now = _box_hash(inbox) if name == box else hash_of_values(self._values(name, path, number))
            if now != there:
                return False
        return True

    def _differences(self, number: int) -> dict[str, None]:
        """Variables into which this run's files put something else in a round than the files did before."""
        if self._previous is None:
            return {}
        changed: dict[str, None] = {}
        for path, records in self.records.items():
            new = records[number].told
            old = self._told_before(path)[number]
            if new is old:
                continue
            for name in sorted({*new, *old}):
                if new.get(name) != old.get(name):
                    changed[name] = None
        for path in sorted(self._gone):
            changed.update(dict.fromkeys(self._told_before(path)[number]))
        return changed

    def _told_before(self, path: str) -> list[dict[str, tuple[str, ...]]]:
        if path not in self._old_told:
            found: list[dict[str, list[str]]] = [{} for _ in range(ROUNDS)]
            for name, value, rounds in self._previous.told_by(path) if self._previous is not None else ():
                for number in range(ROUNDS):
                    if rounds >> number & 1:
                        found[number].setdefault(name, []).append(value)
            self._old_told[path] = [{name: tuple(sorted(v)) for name, v in told.items()} for told in found]
        return self._old_told[path]

    def _woken(self, number: int) -> list[str]:
        """Files not solved so far in this run whose inputs of this round differ from those recorded."""
        if self._previous is None:
            return []
        woken: dict[str, None] = {}
        bit = 1 << number
        for name in self._changed:
            owner = owner_of(name)
            for path, there, rounds in self._previous.readers(number_of(name)):
                asleep = rounds & bit and self._is_asleep(path) and path not in woken
                if asleep and hash_of_values(self._values(name, path, number)) != there:
                    woken[path] = None
                    self.reasons[path] = f"read {_readable(name)}"
            asleep = owner in self._previous.blobs and self._is_asleep(owner) and owner not in woken
            if asleep and self._box_differs(owner, number):
                woken[owner] = None
                self.reasons[owner] = f"was told {_readable(name)}"
        return sorted(woken)

    def _is_asleep(self, path: str) -> bool:
        return path not in self.records and path not in self._gone

    def _box_differs(self, owner: str, number: int) -> bool:
        key = number_of(inbox_key(owner))
        assert self._previous is not None
        now = _box_hash(self._inbox(owner, number))
        return all(there != now for _, there, rounds in self._previous.readers(key) if rounds >> number & 1)

    def _old_records(self, path: str, number: int) -> list[Record]:
        """What was recorded of a file in the rounds before the one it is woken in."""
        assert self._previous is not None
        told = self._told_before(path)
        reads = self._previous.read_by(path)
        found: list[Record] = []
        for i in range(number):
            here = {key: there for key, there, rounds in reads if rounds >> i & 1}
            record = Record(before=here, told=told[i])
            found.append(record)
            self.told[i].add(path, record.told)
        return found


def _box_hash(inbox: Mapping[str, tuple[str, ...]]) -> int:
    return hash_of_values(f"{name}{PART}{value}" for name, values in inbox.items() for value in values)


def _readable(name: str) -> str:
    kind, *parts = name.split(PART)
    return f"{kind} {' '.join(parts)}"
