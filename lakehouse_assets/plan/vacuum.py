"""Which files and log entries of a table nobody needs any more.

Invariant: a file goes only if the present version does not have it, no hold is on a version that had it or on a feed
that rests on it, and it has been so for the safety age, which covers readers and writers that are under way. A log
entry goes only if an older checkpoint is not needed to tell a version that is held. What cannot be told stays.

Cost: one look at each file that the log knows, and at the holds on its partition.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lakehouse_assets.plan.holds import Hold, oldest_need


@dataclass(frozen=True, kw_only=True)
class LoggedFile:
    """A data file of the log: part of the versions from `added` to before `removed`; None while it is present."""

    path: str
    partition: str | None
    """Value of the first partition column, as the log has it."""
    added: int
    removed: int | None = None
    removed_at: int = 0
    """When it was removed, in milliseconds since 1970."""


@dataclass(frozen=True, kw_only=True)
class FeedFile:
    """A file that tells the changes of one version: written for the feed, or a data file that came or went."""

    path: str
    partition: str | None
    version: int
    at: int


@dataclass(frozen=True, kw_only=True)
class TableLog:
    """What the log still tells of a table's files: the versions from `oldest` to `version`."""

    table: str
    oldest: int
    version: int
    files: tuple[LoggedFile, ...]
    feed: tuple[FeedFile, ...]
    entries: Mapping[int, int]
    """When each version that has a log entry of its own was committed, in milliseconds."""
    checkpoints: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class DiskFile:
    size: int
    changed_at: int


@dataclass(frozen=True, kw_only=True)
class HeldFiles:
    """What one holder keeps of what would otherwise go."""

    by: str
    why: str
    files: int
    bytes: int


@dataclass(frozen=True, kw_only=True)
class VacuumPlan:
    """What goes, and what stays though the present version does not have it."""

    table: str
    remove: tuple[str, ...]
    bytes: int
    held: tuple[HeldFiles, ...]
    young: int
    """Files that nobody holds, not yet of the safety age."""
    keep_log_from: int
    """The first version whose log entry and checkpoint stay."""
    log_entries: int
    """Log entries that go."""
    log_held_by: str | None
    """Who needs the first of those that stay, if it is a hold."""

    def __str__(self) -> str:
        log = f", log kept from version {self.keep_log_from}" + (f" by {self.log_held_by}" if self.log_held_by else "")
        lines = [f"{self.table}: {len(self.remove)} files of {self.bytes} bytes go, {self.young} are too young{log}"]
        lines += [f"  {each.files} files of {each.bytes} bytes held by {each.by}: {each.why}" for each in self.held]
        return "\n".join(lines)


def plan_vacuum(
    log: TableLog, disk: Mapping[str, DiskFile], holds: Sequence[Hold], *, before: int, log_before: int
) -> VacuumPlan:
    """Decide for the files on disk; `before` and `log_before` are the moments that end the safety ages."""
    present = {file.path for file in log.files if file.removed is None}
    left_at = _left_at(log)
    holders = _holders(log, holds)
    remove: list[str] = []
    young = 0
    kept: dict[str, list[str]] = {}
    for path, file in disk.items():
        if path in present:
            continue
        if path in holders:
            for by in holders[path]:
                kept.setdefault(by, []).append(path)
        elif max(left_at.get(path, 0), file.changed_at) >= before:
            young += 1
        else:
            remove.append(path)
    reasons = {hold.by: hold.why for hold in holds}
    keep_from, held_by = _log_kept(log, holds, log_before)
    return VacuumPlan(
        table=log.table,
        remove=tuple(sorted(remove)),
        bytes=sum(disk[path].size for path in remove),
        held=tuple(
            HeldFiles(by=by, why=reasons[by], files=len(paths), bytes=sum(disk[path].size for path in paths))
            for by, paths in sorted(kept.items())
        ),
        young=young,
        keep_log_from=keep_from,
        log_entries=sum(version < keep_from for version in log.entries),
        log_held_by=held_by,
    )


def _left_at(log: TableLog) -> dict[str, int]:
    """When each file that is not present left the table, or told a change."""
    found: dict[str, int] = {}
    for file in log.files:
        if file.removed is not None:
            found[file.path] = max(found.get(file.path, 0), file.removed_at)
    for file in log.feed:
        found[file.path] = max(found.get(file.path, 0), file.at)
    return found


def _holders(log: TableLog, holds: Sequence[Hold]) -> dict[str, set[str]]:
    """Who holds each file that is not present."""
    versions: dict[str | None, list[tuple[int, str]]] = {}
    feeds: dict[str | None, list[tuple[int, str]]] = {}
    found: dict[str, set[str]] = {}
    for hold in holds:
        if hold.version is not None:
            versions.setdefault(hold.partition, []).append((hold.version, hold.by))
        if hold.feed_from is not None:
            feeds.setdefault(hold.partition, []).append((hold.feed_from, hold.by))
        for path in hold.files:
            found.setdefault(path, set()).add(hold.by)
    for each in (*versions.values(), *feeds.values()):
        each.sort()
    for file in log.files:
        if file.removed is not None:
            for held in _of_partition(versions, file.partition):
                first = bisect_left(held, (file.added, ""))
                last = bisect_left(held, (file.removed, ""))
                found.setdefault(file.path, set()).update(by for _, by in held[first:last])
    for file in log.feed:
        for held in _of_partition(feeds, file.partition):
            last = bisect_left(held, (file.version + 1, ""))
            found.setdefault(file.path, set()).update(by for _, by in held[:last])
    return {path: by for path, by in found.items() if by}


def _of_partition(
    held: Mapping[str | None, list[tuple[int, str]]], partition: str | None
) -> list[list[tuple[int, str]]]:
    """The holds on a partition, and those on all; every hold where the partition is not known."""
    return [held[each] for each in held if partition is None or each in (partition, None)]


def _log_kept(log: TableLog, holds: Sequence[Hold], before: int) -> tuple[int, str | None]:
    """From which version on the log stays: a checkpoint, from which everything later can be told."""
    young = min((version for version, at in log.entries.items() if at >= before), default=log.version)
    need = oldest_need(holds)
    limit = min(young, log.version, log.version if need is None else need[0])
    start = max((version for version in log.checkpoints if log.oldest <= version <= limit), default=log.oldest)
    # A later checkpoint would do, were it not for the hold.
    free = max((version for version in log.checkpoints if version <= min(young, log.version)), default=log.oldest)
    return start, need[1] if need is not None and start < free else None
