"""Which index answers: the newest, read again when a publication moves it, or one of an earlier commit."""

import threading
import time
from collections import OrderedDict

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.explorer.index import Index, build_index
from lakehouse_assets.lake.published import PublishedCommit, published_commits
from lakehouse_assets.lake.published_graph import graph_at, newest_graph
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
        key = (repo, whole.commit_sha)
        with self._lock:
            held = self._earlier.get(key)
            if held is not None:
                self._earlier.move_to_end(key)
                return held
        made = build_index(graph_at(self.lake, whole))
        with self._lock:
            self._earlier[key] = made
            while len(self._earlier) > _EARLIER:
                self._earlier.popitem(last=False)
        return made

    def _follow(self, held: Index) -> None:
        try:
            if newest_graph(self.lake).commits != held.graph.commits:
                self._make()
            self._looked = time.monotonic()
        finally:
            self._making.release()

    def _make(self) -> Index:
        made = build_index(newest_graph(self.lake))
        self._newest, self._looked = made, time.monotonic()
        return made


def commit_ids(lake: Lake, repo: str) -> list[str]:
    """Commits that the graph of a repository was brought to, the latest first."""
    return [commit.commit_sha for commit in published_commits(lake, repo)]


def _whole(lake: Lake, repo: str, commit: str) -> PublishedCommit:
    known = published_commits(lake, repo)
    found = [each for each in known if each.commit_sha.startswith(commit)] if commit else []
    if len(found) != 1:
        last = ", ".join(each.commit_sha[:12] for each in known[:5])
        raise BadInputError(
            subject=f"{repo} at {commit!r}",
            seen=f"{len(found) or 'none'} of the commits that the graph was brought to begins with it",
            why="its graph is not known",
            remedy=f"use one of {last}" if known else f"`lakehouse sync {repo}`",
        )
    return found[0]
