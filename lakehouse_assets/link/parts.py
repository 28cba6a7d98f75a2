"""A repository linked from nothing in parts that know nothing of each other but what their files tell in each round.

Rounds make that exact: what a file is solved with is what all files told in the round before, wherever they were
solved. Between two rounds a part can be put aside as bytes and taken up by any process. Of other parts' files it asks
for what others may know of them, file by file, when it comes to them.
"""

import pickle
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from lakehouse_assets.link.heard import Heap, Heard
from lakehouse_assets.link.repository import Linking, LinkResult
from lakehouse_assets.link.world import Load, Neighbours

PROTOCOL = 5


class Part:
    """The files `mine` of a repository; taken up again if `kept` is given."""

    def __init__(
        self,
        *,
        repo: str,
        files: Mapping[str, str],
        mine: Collection[str],
        load: Load,
        neighbours: Neighbours,
        kept: bytes | None = None,
    ) -> None:
        self._linking = Linking(repo, files, load, neighbours, None, mine=mine)
        self._solved: dict[str, bytes] = {}
        """What each file's last solve gave, as bytes: most rounds solve few files anew, and look at no other's."""
        if kept is None:
            self._rounds = self._linking.started()
        else:
            held, self._solved = pickle.loads(kept)
            self._rounds = self._linking.resumed(held)

    def solve(self, number: int, heard: Heard) -> None:
        """One round, with what all parts told in the one before."""
        if number:
            self._rounds.heard[number - 1] = heard
        self._rounds.solve(number)

    def told(self, number: int) -> Heap:
        """What the files told in a round that was solved here."""
        return self._rounds.told[number]

    def kept(self) -> bytes:
        """All that the next round needs of this one."""
        for found in (self._rounds.solutions, self._rounds.names):
            for path, solved in found.items():
                self._solved[path] = pickle.dumps(solved, PROTOCOL)
        return pickle.dumps((self._linking.kept(), self._solved), PROTOCOL)

    def result(self) -> LinkResult:
        """The rows of `mine`, after the last round."""
        for path, solved in self._solved.items():
            found = self._rounds.names if self._linking.is_named(path) else self._rounds.solutions
            if path not in found:
                found[path] = pickle.loads(solved)
        return self._linking.finished()


def dealt(sizes: Mapping[str, int], *, files: int, size: int) -> Iterator[list[str]]:
    """The paths in parts of at most so many files and, unless it is one file, at most that size.

    In order: files of one folder ask each other most.
    """
    mine: list[str] = []
    held = 0
    for path in sorted(sizes):
        if mine and (len(mine) == files or held + sizes[path] > size):
            yield mine
            mine, held = [], 0
        mine.append(path)
        held += sizes[path]
    if mine:
        yield mine


def interface(summary: dict[str, Any]) -> dict[str, Any]:
    """What other files may ask of a file: all but its flows. One that is known by names only has no others."""
    if "ops" not in summary:
        return summary
    return {name: value for name, value in summary.items() if name not in _BODY} | {"ops": ()}


_BODY = frozenset({"ops", "uses", "annotations", "variables", "calls"})
