"""Which versions of a table changed the rows of a partition, kept in the ledger's index.

Invariant: `versions` are all that did from `since` on, up to the newest version that the index has of the table. They
are taken from the log's entries, whoever wrote these. Commits that change more than rows (another schema, a restore, an
overwrite as a whole) are left to who reads the log: what was known before them is forgotten.

Why: a reader of changes opens the log entries of its own partition, and none of those that others committed meanwhile.
Cost: each log entry is read once, when the index is brought up to the log.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.log_range import mark_of, partitions_changed
from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.plan.cursors import KnownVersions

_MOST = 20
"""Versions that are kept of a partition; who has not read for longer reads the log."""


@dataclass(frozen=True, kw_only=True)
class Touched:
    """The versions from `since` on that changed a partition, as found in the table with this id."""

    table_id: str
    since: int
    versions: tuple[int, ...]
    last_commit: str
    """Fingerprint of the log entry at the version up to which the index's row tells."""

    @staticmethod
    def of(text: str | None) -> "Touched | None":
        if text is None:
            return None
        held = json.loads(text)
        return Touched(**{**held, "versions": tuple(held["versions"])})

    @property
    def text(self) -> str:
        return json_text(asdict(self))


@dataclass(frozen=True, kw_only=True)
class Followed:
    """What the log entries behind version `seen` of a table did, one after the other."""

    seen: int
    settled: int
    """The version from which on all commits told which partitions they change, and changed nothing else."""
    changed: Mapping[str, tuple[int, ...]]
    """By partition the versions that changed its rows."""

    @staticmethod
    def along(folder: LakePath, seen: int, until: int) -> "Followed":
        settled = seen + 1
        changed: dict[str, tuple[int, ...]] = {}
        for version in range(seen + 1, until + 1):
            partitions = partitions_changed(folder, version)
            if partitions is None:
                settled, changed = version + 1, {}
                continue
            for partition in partitions:
                changed[partition] = (*changed.get(partition, ()), version)
        return Followed(seen=seen, settled=settled, changed=changed)

    def touched(self, before: Touched | None, partition: str, table_id: str, last_commit: str) -> Touched:
        """What is known of a partition now, from what was known up to `seen`."""
        since, versions = self.settled, self.changed.get(partition, ())
        if before is not None and before.table_id == table_id and self.settled == self.seen + 1:
            since, versions = before.since, (*before.versions, *versions)
        if len(versions) > _MOST:
            since, versions = versions[-_MOST - 1] + 1, versions[-_MOST:]
        return Touched(table_id=table_id, since=since, versions=versions, last_commit=last_commit)


def known_versions(
    folder: LakePath, table_id: str, until: int, newest: Touched | None, partitions: Sequence[Touched | None]
) -> KnownVersions | None:
    """What the index knows of partitions together; None if it does not know it, or has it of another log.

    `newest` is of the row that tells of version `until`, the newest that the index has of the table.
    """
    found = [each for each in partitions if each is not None and each.table_id == table_id]
    if newest is None or len(found) < len(partitions) or mark_of(folder, until) != newest.last_commit:
        return None
    return KnownVersions(
        since=max(each.since for each in found),
        until=until,
        versions=tuple(sorted({version for each in found for version in each.versions})),
    )
