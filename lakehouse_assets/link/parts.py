"""A repository linked from nothing in parts that know nothing of each other but what their files tell in each round.

Rounds make that exact: what a file is solved with is what all files told in the round before, wherever they were
solved. Facts of files are read by every part for itself.
"""

from collections.abc import Collection, Mapping

from lakehouse_assets.link.repository import Linking, LinkResult
from lakehouse_assets.link.rounds import Told
from lakehouse_assets.link.world import Load, Neighbours


class Part:
    """The files `mine` of a repository. Each round is solved, and then takes in what the other parts told in it."""

    def __init__(
        self, *, repo: str, files: Mapping[str, str], mine: Collection[str], load: Load, neighbours: Neighbours
    ) -> None:
        self._linking = Linking(repo, files, load, neighbours, None, mine=mine)
        self._rounds = self._linking.started()
        self._told: dict[str, Told] = {}
        """By other parts' files, as of the last round."""

    def solve(self, number: int) -> dict[str, Told]:
        """What each file told in this round, of those that did not tell just that in the one before."""
        if number:
            self._rounds.take(number - 1, self._told)
        self._rounds.solve(number)
        return self._rounds.newly_told(number)

    def take(self, told: Mapping[str, Told]) -> None:
        """What files of another part newly told in the round just solved."""
        self._told.update(told)

    def result(self) -> LinkResult:
        """The rows of `mine`."""
        return self._linking.finished()


def dealt(files: Collection[str], parts: int) -> list[list[str]]:
    """The files in so many parts of like size: those that stand together resemble each other, and are dealt out."""
    ordered = sorted(files)
    return [ordered[number::parts] for number in range(parts)]
