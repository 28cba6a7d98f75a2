"""Search among the names of definitions, as one types.

All names stand in one text, a line each, so that a search is a few scans of it by the C library: some milliseconds for
a hundred thousand names, without an index to be kept.
"""

import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa

_SCANNED = 500
"""Finds that are looked at; the best of more would be found by typing on."""
_KEPT = 2_000
_LAST = {"function": 0, "class": 0, "method": 0, "module": 1}
"""Kinds that people mostly look for come first; others, such as lambdas, last."""


@dataclass(frozen=True, kw_only=True)
class Names:
    """Qualified names in lower case, one per line, and where each line begins."""

    text: str
    starts: list[int]
    kinds: list[str]
    repos: list[str]
    _found: dict[tuple[str, str | None, str | None], list[int]] = field(default_factory=dict, repr=False)
    """Answers to the latest questions: people type the same beginnings, and the names never change."""

    @classmethod
    def of(cls, definitions: pa.Table) -> "Names":
        names = [_one_line(name) for name in definitions["qualified_name"].to_pylist()]
        starts: list[int] = []
        place = 0
        for name in names:
            starts.append(place)
            place += len(name) + 1
        return cls(
            text="\n".join(names),
            starts=starts,
            kinds=definitions["kind"].to_pylist(),
            repos=definitions["repo"].to_pylist(),
        )

    def search(self, query: str, *, repo: str | None = None, kind: str | None = None) -> list[int]:
        """Numbers of definitions whose qualified name has the query in it, the best first: the whole name, its last
        part, the beginning of a part, anywhere; shorter names before longer ones."""
        wanted = _one_line(query.strip())
        if not wanted:
            return []
        asked = (wanted, repo, kind)
        found = self._found.get(asked)
        if found is None:
            if len(self._found) >= _KEPT:
                self._found.clear()
            found = self._found[asked] = self._search(wanted, repo, kind)
        return found

    def _search(self, wanted: str, repo: str | None, kind: str | None) -> list[int]:
        ranked: list[tuple[int, int, int, int]] = []
        for number, at in self._finds(wanted, repo, kind):
            start = self.starts[number]
            end = self.starts[number + 1] - 1 if number + 1 < len(self.starts) else len(self.text)
            name = self.text[start:end]
            ranked.append((_rank(name, wanted, at - start), _LAST.get(self.kinds[number], 2), len(name), number))
        ranked.sort()
        return [number for *_, number in ranked]

    def _finds(self, wanted: str, repo: str | None, kind: str | None) -> Iterator[tuple[int, int]]:
        """Each name that has it, with the last place in it: what a name ends with tells most."""
        seen: set[int] = set()
        # Ends of names and beginnings of last parts first, so that the limit cuts off the least telling.
        for needle, offset in ((f".{wanted}\n", 1), (f".{wanted}", 1), (wanted, 0)):
            at = self.text.find(needle)
            while at >= 0 and len(seen) < _SCANNED:
                number = bisect.bisect_right(self.starts, at + offset) - 1
                fits = (repo is None or self.repos[number] == repo) and (kind is None or self.kinds[number] == kind)
                if fits and number not in seen:
                    seen.add(number)
                    yield number, at + offset
                at = self.text.find(needle, at + 1)


def _rank(name: str, wanted: str, at: int) -> int:
    if name == wanted:
        return 0
    if name.endswith(f".{wanted}"):
        return 1
    if at == 0 or name[at - 1] == ".":
        return 2 if "." not in name[at + len(wanted) :] else 3
    return 4


def _one_line(name: str) -> str:
    return name.lower().replace("\n", " ")
