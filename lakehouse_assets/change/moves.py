"""Two states of some files' definitions in, which of them moved out.

Definitions are the same if they have one descriptor in one file, or in a file and what it was renamed to. What is gone
from one place and came, equal in name, signature and body, in another has moved. Within a file a definition has moved
if its order among its neighbours changed; that lines above it came or went does not move it. What else became of
definitions is a step, which takes these for given: see `diff_steps`.

Lambdas are part of the definition around them, and are left out.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lakehouse_assets.change.similarity import name_distance
from lakehouse_assets.extract.symbols import symbol_of

_NOT_BY_ITSELF = "lambda"

_COPIES_WEIGHED = 20
"""Equal definitions that came, of which the closest is looked for; there may be any number of copies."""

Columns = Mapping[str, Sequence[Any]]
"""A file's definitions as an extract has them, in the order of the text."""


@dataclass(frozen=True, kw_only=True)
class FilePair:
    """A file before and after: the columns of its definitions; None where there was or is none."""

    path: str
    old_path: str | None
    old: Columns | None
    new: Columns | None


class Moved(NamedTuple):
    old_symbol: str
    symbol: str


class _Place(NamedTuple):
    """A definition that is gone, or that came: where, and as number what of the file's definitions."""

    path: str
    descriptor: str
    columns: Columns
    number: int

    @property
    def symbol(self) -> str:
        return symbol_of(self.path, self.descriptor)

    @property
    def content(self) -> tuple[str, ...]:
        return tuple(self.columns[name][self.number] for name in ("kind", "name", "signature_hash", "body_hash"))


def numbered(columns: Columns | None) -> dict[str, int]:
    """By descriptor the numbers of the definitions that stand by themselves, in the order of the text."""
    if columns is None:
        return {}
    return {
        descriptor: number
        for number, (descriptor, kind) in enumerate(zip(columns["descriptor"], columns["kind"], strict=True))
        if kind != _NOT_BY_ITSELF
    }


def moves(files: Iterable[FilePair]) -> list[Moved]:
    """What moved within and between the files, in no order. In a renamed file what stayed has not moved by itself."""
    found: list[Moved] = []
    gone: list[_Place] = []
    came: list[_Place] = []
    for file in files:
        old_path = file.old_path or file.path
        old, new = numbered(file.old), numbered(file.new)
        if file.old is not None:
            gone += [_Place(old_path, each, file.old, number) for each, number in old.items() if each not in new]
        if file.new is not None:
            came += [_Place(file.path, each, file.new, number) for each, number in new.items() if each not in old]
            found += [
                Moved(symbol_of(old_path, each), symbol_of(file.path, each))
                for each in _out_of_order(old, new, file.new)
            ]
    return found + _between_places(gone, came)


def _out_of_order(old: Mapping[str, int], new: Mapping[str, int], columns: Columns) -> set[str]:
    """Definitions that passed one of their neighbours: as few as explain the new order."""
    if [each for each in old if each in new] == [each for each in new if each in old]:
        return set()
    families: dict[int, list[str]] = {}
    for descriptor, number in new.items():
        if descriptor in old:
            families.setdefault(columns["parent"][number], []).append(descriptor)
    moved: set[str] = set()
    for family in families.values():
        stayed = _longest_rise([old[descriptor] for descriptor in family])
        moved.update(descriptor for descriptor in family if old[descriptor] not in stayed)
    return moved


def _longest_rise(numbers: Sequence[int]) -> set[int]:
    """The longest selection that rises, in its order: what can be taken to have stayed where it was."""
    tails: list[int] = []
    at_length: list[int] = []
    for number in numbers:
        length = bisect_left(tails, number)
        tails[length : length + 1] = [number]
        at_length.append(length)
    chosen: set[int] = set()
    wanted, below = len(tails) - 1, None
    for number, length in zip(reversed(numbers), reversed(at_length), strict=True):
        if length == wanted and (below is None or number < below):
            chosen.add(number)
            wanted, below = wanted - 1, number
    return chosen


def _between_places(gone: Sequence[_Place], came: Sequence[_Place]) -> list[Moved]:
    """Pair what went with what came where both are equal, the closest places first."""
    if not gone or not came:
        return []
    equal: dict[tuple[str, ...], list[_Place]] = {}
    for each in came:
        equal.setdefault(each.content, []).append(each)
    pairs = sorted(
        (name_distance(old.path, new.path), Moved(old.symbol, new.symbol))
        for old in gone
        if old.columns["kind"][old.number] != "module"
        for new in equal.get(old.content, ())[:_COPIES_WEIGHED]
    )
    found: dict[str, Moved] = {}
    placed: set[str] = set()
    for _, pair in pairs:
        if pair.old_symbol not in found and pair.symbol not in placed:
            found[pair.old_symbol] = pair
            placed.add(pair.symbol)
    return list(found.values())
