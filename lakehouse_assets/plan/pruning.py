"""Which files of a table a write or a read can touch, from what the log says of each.

A file is passed over only if its partition values or the bounds of its owner column rule it out; one
without bounds counts as touched, and is counted apart.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from lakehouse_assets.plan.scope import Condition, Equals, Scopes, Window, one_column


@dataclass(frozen=True, kw_only=True)
class FileFacts:
    """One data file: its partition values, and the bounds of the owner column if the log has them."""

    path: str = ""
    """As the log has it, below the table's folder."""
    size: int
    rows: int | None
    partition: Mapping[str, Any]
    owner_min: Any = None
    owner_max: Any = None


@dataclass(frozen=True, kw_only=True)
class Pruning:
    """How many files a predicate can touch, of how many; `unbounded` are touched for want of statistics."""

    total: int
    touched: int
    unbounded: int
    touched_rows: int | None
    """None if the log does not tell for one of them."""
    owner_ranges: tuple[tuple[str, str], ...] = ()
    """The owners as a few ranges, from the first to the last of each, that touch the same files: an engine plans and
    tests them sooner than a list of names."""

    @property
    def pruned(self) -> int:
        return self.total - self.touched


def prune(files: Sequence[FileFacts], scopes: Scopes, owners: Sequence[str] | None) -> Pruning:
    """What the scopes can touch, and in them the owners if there are any named."""
    touched, beside = _parted(files, scopes, owners)
    return Pruning(
        total=len(files),
        touched=len(touched),
        unbounded=sum(_is_unbounded(file) for file in touched) if owners is not None else 0,
        touched_rows=_sum(file.rows for file in touched),
        owner_ranges=_ranges(sorted(owners), beside) if owners else (),
    )


def touched_files(files: Sequence[FileFacts], scopes: Scopes, owners: Sequence[str] | None) -> list[FileFacts]:
    """The files that may hold rows of the scopes, and of the owners if there are any named."""
    return _parted(files, scopes, owners)[0]


def _parted(
    files: Sequence[FileFacts], scopes: Scopes, owners: Sequence[str] | None
) -> tuple[list[FileFacts], list[FileFacts]]:
    """The files of the scopes that may hold rows of the owners, and those that hold none."""
    may_be_in = _scope_test(scopes)
    inside = [file for file in files if may_be_in(file)]
    if owners is None:
        return inside, []
    ordered = sorted(owners)
    touched: list[FileFacts] = []
    beside: list[FileFacts] = []
    for file in inside:
        (touched if _may_own(file, ordered) else beside).append(file)
    return touched, beside


def _ranges(ordered: Sequence[str], beside: Iterable[FileFacts]) -> tuple[tuple[str, str], ...]:
    """Owners cut wherever a file that has none of them lies between two."""
    edges = sorted({0, len(ordered), *(bisect_left(ordered, file.owner_min) for file in beside)})
    return tuple((ordered[first], ordered[end - 1]) for first, end in pairwise(edges))


def _is_unbounded(file: FileFacts) -> bool:
    return file.owner_min is None or file.owner_max is None


def _may_own(file: FileFacts, ordered: Sequence[str]) -> bool:
    return _is_unbounded(file) or _any_between(ordered, file.owner_min, file.owner_max)


def _sum(numbers: Iterable[int | None]) -> int | None:
    total = 0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total


def _scope_test(scopes: Scopes) -> Callable[[FileFacts], bool]:
    """Whether a file may hold rows of the scopes; many values of one column, as most writes have, cost one look."""
    if not scopes:
        return lambda _: True
    same = one_column(scopes)
    if same is None:
        return lambda file: any(all(_may_hold(file, condition) for condition in scope) for scope in scopes)
    name, values = same[0], set(same[1])
    return lambda file: name not in file.partition or file.partition[name] in values


def _may_hold(file: FileFacts, condition: Condition) -> bool:
    if condition.column not in file.partition:
        return True
    value = file.partition[condition.column]
    match condition:
        case Equals():
            return value == condition.value
        case Window():
            return value is not None and condition.start <= value < condition.end


def _any_between(ordered: Sequence[str], low: str, high: str) -> bool:
    """Whether one of the sorted values lies within the bounds. Bounds in the log may be cut short, but stay bounds."""
    position = bisect_left(ordered, low)
    return position < len(ordered) and ordered[position] <= high
