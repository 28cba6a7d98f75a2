"""A large write in parts: which files and which rows of the batch meet, and meet nothing else.

Invariant: slices are apart. A row's partition and owner tell its slice, a file is in one slice only, and no key of one
slice is in another; so each can be compared with its part of the batch by itself, anywhere, in any order. Only tables
whose key has the owner can be cut.

Cost: memory for a slice at a time, whatever the table's size.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.plan.pruning import FileFacts

ROWS_A_SLICE = 250_000
"""From here on a slice ends where it can: enough rows for numpy, few enough for a worker's memory."""
MOST_ROWS = 2_000_000
MOST_BYTES = 128 * 1024 * 1024
"""What a slice may have of the table, where its files cannot be cut apart, and still be compared in memory."""

Place = tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Slice:
    """Owners of one partition from `low` on and below `high`, None for no bound, and the files that hold them."""

    place: Place
    low: str | None = None
    high: str | None = None
    files: tuple[FileFacts, ...] = ()


def can_be_cut(contract: TableContract) -> bool:
    """Whether a row's owner tells all rows that its key can meet."""
    if contract.owner is None or contract.owner not in contract.key:
        return False
    owner = contract.column(contract.owner)
    return owner.type == "string" and not owner.nullable and set(contract.partition_by) <= set(contract.key)


def slices_of(
    contract: TableContract, stored: Sequence[FileFacts], coming: Sequence[FileFacts] = ()
) -> tuple[Slice, ...]:
    """Cut the touched files apart. `coming` are the batch's files: they count as well."""
    by_place: dict[Place, tuple[list[FileFacts], list[FileFacts]]] = {}
    for number, files in enumerate((stored, coming)):
        for file in files:
            place = tuple(file.partition[name] for name in contract.partition_by)
            by_place.setdefault(place, ([], []))[number].append(file)
    return tuple(each for place, files in by_place.items() for each in _of_place(place, *files))


def are_bounded(slices: Sequence[Slice]) -> bool:
    """Whether each slice's share of the table fits memory."""
    return all(
        sum(file.size for file in each.files) <= MOST_BYTES and sum(file.rows or 0 for file in each.files) <= MOST_ROWS
        for each in slices
    )


def finder(slices: Sequence[Slice]) -> Callable[[Place, str], int | None]:
    """A function that gives the number of the slice that an owner of a partition belongs to, None if there is none."""
    by_place: dict[Place, tuple[list[str], list[int]]] = {}
    for number, each in enumerate(slices):
        lows, numbers = by_place.setdefault(each.place, ([], []))
        lows.append(each.low or "")
        numbers.append(number)

    def find(place: Place, owner: str) -> int | None:
        if place not in by_place:
            return None
        lows, numbers = by_place[place]
        return numbers[bisect_right(lows, owner) - 1]

    return find


def _of_place(place: Place, stored: Sequence[FileFacts], coming: Sequence[FileFacts]) -> list[Slice]:
    if any(file.owner_min is None or file.owner_max is None for file in (*stored, *coming)):
        return [Slice(place=place, files=tuple(stored))]
    cuts = _cuts(stored, coming)
    held: list[list[FileFacts]] = [[] for _ in range(len(cuts) + 1)]
    for file in stored:
        held[bisect_right(cuts, file.owner_min)].append(file)
    bounds = zip([None, *cuts], [*cuts, None], strict=True)
    return [
        Slice(place=place, low=low, high=high, files=tuple(files))
        for (low, high), files in zip(bounds, held, strict=True)
    ]


def _cuts(stored: Sequence[FileFacts], coming: Sequence[FileFacts]) -> list[str]:
    """Owners at which a slice begins: no stored file has owners both before and from there on."""
    every = sorted(
        [*((file, True) for file in stored), *((file, False) for file in coming)],
        key=lambda pair: (pair[0].owner_min, pair[1]),
    )
    cuts: list[str] = []
    rows, reach = 0, ""
    for file, is_stored in every:
        if rows >= ROWS_A_SLICE and file.owner_min > reach:
            cuts.append(file.owner_min)
            rows = 0
        rows += file.rows or 0
        if is_stored:
            reach = max(reach, file.owner_max)
    return cuts
