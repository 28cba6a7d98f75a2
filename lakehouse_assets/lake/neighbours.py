"""What linking a repository depends on beyond itself: who offers the modules that it seeks, and what it read of them.

Invariant: a repository is stale when another begins or ceases to offer a module that it seeks, found or not, or when
one of which it read facts changes; and not with repositories that it has nothing to do with. A neighbour counts as it
was when all its files were extracted last: one that is being synced, or whose sync was killed, is seen as before.
Cost: the repository's rows of `neighbour_reads`, and once a process the table `offered_modules`, which has a few rows a
repository: half a second for a thousand of them. No neighbour's files are looked at to see that they are as they were.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Literal

from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.neighbour_reads import NEIGHBOUR_READS
from lakehouse_assets.contracts.offered_modules import OFFERED_MODULES
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.lake.ledger import Entry, EntryKey
from lakehouse_assets.lake.tables import Lake, LakePath
from lakehouse_assets.plan.cursors import read_position
from lakehouse_assets.plan.sql_text import in_list

NEIGHBOURS = "neighbours"
"""Stands among a derivation's inputs for the other repositories."""

NONE = "none"

ReadKey = tuple[Literal["module", "repository"], str]
Reads = Mapping[ReadKey, str]
"""Versions of what a repository read of the others."""


def version_of(reads: Reads) -> str:
    """One version for all that was read."""
    return fingerprint(part for key in sorted(reads) for part in (*key, reads[key])) if reads else NONE


def _in_words(key: ReadKey, version: str) -> str:
    kind, name = key
    if kind == "module":
        return f"module {name} of {version.replace(',', ' and ') or 'no repository'}"
    return f"{name} {version[:12]}" if version else f"{name} gone"


def readers_of(lake: Lake, repo: str) -> list[str]:
    """The repositories that were linked with something of this one, or found that it offers a module."""
    rows = lake.read(NEIGHBOUR_READS, columns=["repo", "kind", "name", "version"]).to_pylist()
    return sorted(
        {
            row["repo"]
            for row in rows
            if (row["name"] == repo if row["kind"] == "repository" else repo in row["version"].split(","))
        }
    )


def extracted(latest: Mapping[EntryKey, Entry], repo: str) -> Entry | None:
    """The entry of the repository's last extraction; none where its files are gone, as they are once it was removed.

    `extracts` belongs to contents, not to repositories, so that a removal leaves its entries.
    """
    entry, snapshot = latest.get((EXTRACTS.name, repo)), latest.get((SNAPSHOTS.name, repo))
    return entry if entry is not None and entry.cursor and snapshot is not None and snapshot.cursor else None


class NeighbourVersions:
    """Versions of what repositories see of the others: as they were read, and as they are now."""

    def __init__(
        self,
        lake: Lake,
        latest: Mapping[EntryKey, Entry],
        registered: Collection[str],
        repos: Collection[str],
    ) -> None:
        self._lake = lake
        self._latest = {key: entry for key, entry in latest.items() if key[0] in (SNAPSHOTS.name, EXTRACTS.name)}
        self._registered = frozenset(registered)
        self._repos = repos

    def of(self, repo: str) -> str:
        """The version that the repository should be linked with."""
        return version_of(self.now(repo, self.read_by(repo)))

    def differing(self, repo: str) -> tuple[str, str]:
        """What the repository was linked with and what it should be linked with, in words, where the two differ."""
        before = self.read_by(repo)
        now = self.now(repo, before)
        keys = sorted(key for key in before if before[key] != now[key])
        told = [", ".join(_in_words(key, reads[key]) for key in keys) for reads in (before, now)]
        return told[0], told[1]

    def read_by(self, repo: str) -> Reads:
        """What the last linking of the repository read."""
        return self._stored.get(repo, {})

    def now(self, repo: str, keys: Iterable[ReadKey]) -> Reads:
        """The present versions of what is read."""
        return {
            (kind, name): ",".join(self.offering(repo, name)) if kind == "module" else self.content(name)
            for kind, name in keys
        }

    def offering(self, repo: str, module: str) -> tuple[str, ...]:
        """The registered repositories, other than this one, that offer a module, by name."""
        return tuple(other for other in self._offers.get(module, ()) if other != repo and other in self._registered)

    def content(self, repo: str) -> str:
        """What the files of a repository hold; empty if it is not registered or was never synced."""
        return (self._extracted_from(repo) or "") if repo in self._registered else ""

    def settled_at(self, repo: str) -> int | None:
        """The version of `snapshots` that the repository was extracted from last; None if that is the present one."""
        present = self._latest.get((SNAPSHOTS.name, repo))
        if present is None or self._extracted_from(repo) == present.data_version:
            return None
        position = read_position(self._latest[EXTRACTS.name, repo].cursor)
        return None if position is None else position.cursors[SNAPSHOTS.name].end - 1

    def _extracted_from(self, repo: str) -> str | None:
        entry = extracted(self._latest, repo)
        return json.loads(entry.input_versions).get(SNAPSHOTS.name) if entry is not None else None

    @cached_property
    def _stored(self) -> dict[str, dict[ReadKey, str]]:
        rows = self._lake.rows(NEIGHBOUR_READS, where=in_list('"repo"', sorted(self._repos), "datafusion"))
        found: dict[str, dict[ReadKey, str]] = {}
        for row in rows:
            found.setdefault(row["repo"], {})[row["kind"], row["name"]] = row["version"]
        return found

    @cached_property
    def _offers(self) -> Mapping[str, tuple[str, ...]]:
        if len(self._registered) < 2 or not self._lake.exists(OFFERED_MODULES):
            return {}
        table = self._lake.present(OFFERED_MODULES)
        return _offers_at(self._lake.root, table.metadata().id, table.version())


@lru_cache(maxsize=4)
def _offers_at(root: LakePath, table_id: str, version: int) -> Mapping[str, tuple[str, ...]]:
    """Read by module the repositories that offer it: once a process for each version of a table, which its id names."""
    rows = Lake(root).read(OFFERED_MODULES, columns=["module", "repo"], version=version)
    found: dict[str, list[str]] = {}
    for module, repo in zip(rows["module"].to_pylist(), rows["repo"].to_pylist(), strict=True):
        found.setdefault(module, []).append(repo)
    return {module: tuple(sorted(repos)) for module, repos in found.items()}
