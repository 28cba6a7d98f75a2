"""What files told each other in a round: by variable who put what into it, and by owner its variables."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from lakehouse_assets.link.keys import PART

Told = Mapping[str, tuple[str, ...]]
"""By variable what a file put into it."""


class Heard(Protocol):
    """What all files told in a round."""

    def of(self, name: str) -> Mapping[str, tuple[str, ...]]:
        """By file what it put into a variable."""
        ...

    def to(self, owner: str) -> Iterable[str]:
        """The variables of a file that files wrote to."""
        ...


class Heap:
    """What files told, as it comes in."""

    def __init__(self) -> None:
        self._by_name: dict[str, dict[str, tuple[str, ...]]] = {}
        self._by_owner: dict[str, dict[str, None]] = {}

    def add(self, path: str, told: Told) -> None:
        for name, values in told.items():
            self._by_name.setdefault(name, {})[path] = values
            self._by_owner.setdefault(owner_of(name), {})[name] = None

    def of(self, name: str) -> Mapping[str, tuple[str, ...]]:
        return self._by_name.get(name, {})

    def to(self, owner: str) -> Iterable[str]:
        return self._by_owner.get(owner, ())

    def rows(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Variable, who told, and what."""
        for name, tellers in self._by_name.items():
            for path, values in tellers.items():
                yield name, path, values


def owner_of(name: str) -> str:
    """Whose variable it is."""
    return name.split(PART, 2)[1]
