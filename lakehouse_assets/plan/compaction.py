"""Which files of a table are worth writing together, from what the log says of each.

Updates leave small files behind, and files whose owners overlap, which a write to any of these owners has to read.
Small files of a partition go together until they are of a file's size; large ones whose owners overlap are put in
order. What is large and in order is never rewritten, so that a row is rewritten a few times in its life at most.
A partition is left alone until it is worth a commit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lakehouse_assets.plan.pruning import FileFacts

ENOUGH = 8
"""Files that a partition has to be rid of before it is compacted."""

_CUT = ("\U0010ffff", "\ufffd")
"""What a long text's upper bound ends with."""

Reason = Literal["small", "out of order"]


@dataclass(frozen=True, kw_only=True)
class FileSize:
    """How large a file is to be: whichever of the two is reached first."""

    rows: int
    bytes: int

    def holds(self, files: Iterable[FileFacts]) -> bool:
        listed = list(files)
        return sum(file.rows or 0 for file in listed) <= self.rows and sum(file.size for file in listed) <= self.bytes

    def files_for(self, files: Sequence[FileFacts]) -> int:
        """How many files of this size the rows make."""
        by_rows = round(sum(file.rows or 0 for file in files) / self.rows)
        return max(1, by_rows, sum(file.size for file in files) // self.bytes)

    def is_small(self, file: FileFacts) -> bool:
        return (file.rows or 0) * 2 < self.rows and file.size * 2 < self.bytes


@dataclass(frozen=True, kw_only=True)
class Bin:
    """Files of one partition that are written together."""

    files: tuple[FileFacts, ...]
    makes: int
    """How many files they become."""
    reason: Reason

    @property
    def rows(self) -> int:
        return sum(file.rows or 0 for file in self.files)

    @property
    def bytes(self) -> int:
        return sum(file.size for file in self.files)


@dataclass(frozen=True, kw_only=True)
class CompactionPlan:
    table: str
    version: int
    files: int
    """Files of the table before."""
    small: int
    """Those of them that are small."""
    bins: tuple[Bin, ...]
    bytes_per_file: int
    """How large the files become, as far as bytes tell rows."""

    @property
    def files_after(self) -> int:
        return self.files - sum(len(each.files) - each.makes for each in self.bins)

    def __str__(self) -> str:
        if not self.bins:
            return f"{self.table}: {self.files} files, {self.small} of them small; nothing is worth a commit"
        rows = sum(each.rows for each in self.bins)
        return f"{self.table}: {self.files} files, {self.small} of them small, become {self.files_after}; {rows} rows"


def plan_compaction(
    table: str, version: int, files: Sequence[FileFacts], size: FileSize, *, enough: int = ENOUGH
) -> CompactionPlan:
    """What to write together; `enough` of 1 takes whatever saves a single file."""
    by_partition: dict[tuple[Any, ...], list[FileFacts]] = {}
    for file in files:
        by_partition.setdefault(tuple(file.partition.items()), []).append(file)
    bins: list[Bin] = []
    for each in by_partition.values():
        found = _bins(sorted(each, key=_place), size)
        if sum(max(1, len(one.files) - one.makes) for one in found) >= enough:
            bins += found
    small = sum(size.is_small(file) for file in files)
    rows, filled = sum(each.rows for each in bins), sum(each.bytes for each in bins)
    return CompactionPlan(
        table=table,
        version=version,
        files=len(files),
        small=small,
        bins=tuple(bins),
        bytes_per_file=max(1, min(size.bytes, size.rows * filled // max(1, rows))),
    )


def _place(file: FileFacts) -> tuple[bool, Any, str]:
    return file.owner_min is not None, file.owner_min or "", file.path


def _bins(files: Sequence[FileFacts], size: FileSize) -> list[Bin]:
    """The bins of one partition's files, which come in the order of their first owner."""
    if len(files) > 1 and size.holds(files):
        return [_bin(files, size, "small")]
    small = [file for file in files if size.is_small(file)]
    large = [file for file in files if not size.is_small(file)]
    found = [_bin(each, size, "small") for each in _packed(small, size) if len(each) > 1]
    return found + [_bin(each, size, "out of order") for each in _overlapping(large) if len(each) > 1]


def _packed(files: Sequence[FileFacts], size: FileSize) -> list[list[FileFacts]]:
    """Neighbours together, as many as one file holds."""
    packs: list[list[FileFacts]] = []
    rows = filled = 0
    for file in files:
        rows, filled = rows + (file.rows or 0), filled + file.size
        if packs and rows <= size.rows and filled <= size.bytes:
            packs[-1].append(file)
        else:
            packs.append([file])
            rows, filled = file.rows or 0, file.size
    return packs


def _overlapping(files: Sequence[FileFacts]) -> list[list[FileFacts]]:
    """Files whose owners overlap, together. Neighbours that share one owner at their border do not."""
    groups: list[list[FileFacts]] = []
    reach: Any = None
    for file in files:
        if file.owner_min is None or file.owner_max is None:
            continue
        if groups and not _ends_before(reach, file.owner_min):
            groups[-1].append(file)
            reach = max(reach, file.owner_max)
        else:
            groups.append([file])
            reach = file.owner_max
    return groups


def _ends_before(reach: Any, low: Any) -> bool:
    """Whether owners up to `reach` end where those from `low` on begin; of bounds that were cut short, as far as they
    tell."""
    return low >= reach or (reach[-1:] in _CUT and low.startswith(reach[:-1]))


def _bin(files: Sequence[FileFacts], size: FileSize, reason: Reason) -> Bin:
    return Bin(files=tuple(files), makes=size.files_for(files), reason=reason)
