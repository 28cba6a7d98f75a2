"""Which files of a table a write or a read can touch, from what the log says of each.

A file is passed over only if its partition values or the bounds of its owner column rule it out; one
without bounds counts as touched, and is counted apart.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lakehouse_assets.plan.scope import Condition, Equals, Scopes, Window


@dataclass(frozen=True, kw_only=True)
class FileFacts:
    """One data file: its partition values, and the bounds of the owner column if the log has them."""

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
    touched_bytes: int
    touched_rows: int | None
    """None if the log does not tell for one of them."""

    @property
    def pruned(self) -> int:
        return self.total - self.touched


def prune(files: Sequence[FileFacts], scopes: Scopes, owners: Sequence[str] | None) -> Pruning:
    ordered = sorted(owners) if owners is not None else None
    touched: list[FileFacts] = []
    unbounded = 0
    for file in files:
        if not _in_scopes(file, scopes):
            continue
        if ordered is not None:
            if file.owner_min is None or file.owner_max is None:
                unbounded += 1
            elif not _any_between(ordered, file.owner_min, file.owner_max):
                continue
        touched.append(file)
    return Pruning(
        total=len(files),
        touched=len(touched),
        unbounded=unbounded,
        touched_bytes=sum(file.size for file in touched),
        touched_rows=_sum(file.rows for file in touched),
    )


def _sum(numbers: Iterable[int | None]) -> int | None:
    total = 0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total


def _in_scopes(file: FileFacts, scopes: Scopes) -> bool:
    return not scopes or any(all(_may_hold(file, condition) for condition in scope) for scope in scopes)


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
    from bisect import bisect_left

    position = bisect_left(ordered, low)
    return position < len(ordered) and ordered[position] <= high
