"""Which of some texts that are gone is most like each of some that came, by the lines they share.

Similarity is the share of the larger text, by characters, that stands in lines of both, in whole percent.

Cost: one pass over all lines. Two texts are compared only if they share a line that few others have, and each new
text with its few best candidates only, so that the work grows with the texts, not with their pairs.
"""

from collections import Counter
from collections.abc import Mapping
from io import StringIO

THRESHOLD = 50
"""Percent from which two texts count as versions of one; what git takes by default."""

_CANDIDATES = 4
_COMMON = 20
"""A line that more than so many old texts have tells none of them apart."""

Lines = Counter[str]


def most_similar(old: Mapping[str, str], new: Mapping[str, str]) -> list[tuple[str, str, int]]:
    """Pairs of old and new names with their similarity, each name at most once, the most similar pairs first.

    Equally similar pairs are taken in the order of closeness of their names, then of the names themselves.
    """
    old_lines = {name: _lines(text) for name, text in old.items()}
    holders: dict[str, list[str]] = {}
    for name, lines in old_lines.items():
        for line in lines:
            holders.setdefault(line, []).append(name)
    pairs: list[tuple[int, int, str, str]] = []
    for name, text in new.items():
        lines = _lines(text)
        for candidate in _candidates(lines, holders):
            percent = _similarity(old_lines[candidate], lines, max(len(old[candidate]), len(text)))
            if percent >= THRESHOLD:
                pairs.append((-percent, name_distance(candidate, name), candidate, name))
    taken_old: set[str] = set()
    taken_new: set[str] = set()
    found: list[tuple[str, str, int]] = []
    for negative, _, before, after in sorted(pairs):
        if before not in taken_old and after not in taken_new:
            taken_old.add(before)
            taken_new.add(after)
            found.append((before, after, -negative))
    return found


def name_distance(old: str, new: str) -> int:
    """How far apart two paths are: 0 for the same last name, less for more folders in common."""
    old_parts, new_parts = old.split("/"), new.split("/")
    shared = len(set(old_parts[:-1]) & set(new_parts[:-1]))
    folders = max(len(old_parts), len(new_parts)) - 1 - shared
    return folders + (0 if old_parts[-1] == new_parts[-1] else 1_000)


def _lines(text: str) -> Lines:
    return Counter(StringIO(text))


def _candidates(lines: Lines, holders: Mapping[str, list[str]]) -> list[str]:
    scores: dict[str, int] = {}
    for line in lines:
        names = holders.get(line, ())
        if len(names) <= _COMMON:
            for name in names:
                scores[name] = scores.get(name, 0) + len(line)
    return sorted(scores, key=lambda name: (-scores[name], name))[:_CANDIDATES]


def _similarity(old: Lines, new: Lines, size: int) -> int:
    fewer, more = (old, new) if len(old) < len(new) else (new, old)
    shared = sum(min(count, more[line]) * len(line) for line, count in fewer.items() if line in more)
    return shared * 100 // size if size else 100
