"""Which index answers: the newest, read again when a publication moves it, or one of an earlier commit."""

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError, LakeStateError
from lakehouse_assets.explorer.index import READ, Index, build_index
from lakehouse_assets.lake.published import is_readable, published, published_commits
from lakehouse_assets.lake.tables import Lake

_LOOK_SECONDS = 1.0
"""How often the log is looked at, at most."""
_EARLIER = 3
"""Indexes of earlier commits that are kept."""


class Indexes:
    """The indexes of one lake. Safe to ask from several threads; a stale index answers while the next is made."""

    def __init__(self, lake: Lake) -> None:
        self.lake = lake
        self._newest: Index | None = None
        self._looked = 0.0
        self._lock = threading.Lock()
        self._making = threading.Lock()
        self._earlier: OrderedDict[tuple[str, str], Index] = OrderedDict()

    def newest(self) -> Index:
        """The index at the last publication."""
        held = self._newest
        if held is None:
            with self._making:
                return self._newest or self._make()
        if time.monotonic() - self._looked > _LOOK_SECONDS and self._making.acquire(blocking=False):
            threading.Thread(target=self._follow, args=(held,), daemon=True).start()
        return held

    def at(self, repo: str, commit: str) -> Index:
        """The index of one repository at a commit that the graph was brought to; the beginning of its id is enough."""
        whole = _whole(self.lake, repo, commit)
        with self._lock:
            held = self._earlier.get((repo, whole))
            if held is not None:
                self._earlier.move_to_end((repo, whole))
                return held
        made = build_index(self.lake, _versions_at(self.lake, repo, whole), repo=repo)
        with self._lock:
            self._earlier[repo, whole] = made
            while len(self._earlier) > _EARLIER:
                self._earlier.popitem(last=False)
        return made

    def _follow(self, held: Index) -> None:
        try:
            if published_versions(self.lake) != held.versions:
                self._make()
            self._looked = time.monotonic()
        finally:
            self._making.release()

    def _make(self) -> Index:
        versions = published_versions(self.lake)
        made = build_index(self.lake, versions)
        self._newest, self._looked = made, time.monotonic()
        return made


def published_versions(lake: Lake) -> dict[str, int]:
    """For each table the newest version that a publication names: a run under way has written later ones.

    A version whose files are no longer all there is left out, and with it the table is read as it is now: compaction
    and vacuum take files of other repositories that no publication holds.
    """
    newest: dict[str, int] = {}
    for commit in published_commits(lake):
        for each in READ:
            if each.name in commit.versions:
                newest[each.name] = max(commit.versions[each.name], newest.get(each.name, 0))
    return {each.name: newest[each.name] for each in READ if each.name in newest and _is_whole(lake, each, newest)}


def _is_whole(lake: Lake, contract: TableContract, versions: Mapping[str, int]) -> bool:
    return is_readable(lake, contract, versions[contract.name])


def commit_ids(lake: Lake, repo: str) -> list[str]:
    """Commits that the graph of a repository was brought to, the latest first."""
    return [commit.commit_sha for commit in published_commits(lake, repo)]


def _whole(lake: Lake, repo: str, commit: str) -> str:
    known = commit_ids(lake, repo)
    found = [each for each in known if each.startswith(commit)] if commit else []
    if len(found) != 1:
        raise BadInputError(
            subject=f"{repo} at {commit!r}",
            seen=f"{len(found) or 'none'} of the commits that the graph was brought to begins with it",
            why="its graph is not known",
            remedy=f"use one of {', '.join(each[:12] for each in known[:5])}" if known else f"`lakehouse sync {repo}`",
        )
    return found[0]


def _versions_at(lake: Lake, repo: str, commit: str) -> dict[str, int]:
    found = published(lake, repo, commit, READ)
    if found is None or found.missing:
        missing = ", ".join(found.missing) if found else "everything"
        raise LakeStateError(
            subject=f"{repo} at {commit[:12]}",
            seen=f"{missing} as of it can no longer be read",
            why="its graph is not known any more",
            remedy=f"`lakehouse sync {repo} --to {commit[:12]}` makes it again",
        )
    return found.versions
