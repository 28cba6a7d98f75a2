"""What a definition's own documentation says: a string in it, or the comment right before it."""

import bisect
import inspect
import re
from collections.abc import Sequence

from lakehouse_assets.core.text import lines_of
from lakehouse_assets.extract.treesitter.grammars import Grammar

LONGEST_GAP = 600
"""Bytes between a comment and what it documents: modifiers, attributes, decorators."""

LONGEST_INDENT = 200

_BLANK_LINE = re.compile(rb"\n[ \t\r]*\n")
_CODE = re.compile(rb"[;{}]")
_FRAME = re.compile(
    r"^[ \t]*(?:/\*[*!]*|\*/|\*(?=\s|$)|//[/!]*|#+!?|---?|\{-\||-\}|\|)?[ \t]?|[ \t]*\*+/[ \t]*$", re.MULTILINE
)
_QUOTES = re.compile(r"^[a-zA-Z]{0,2}(?:\"\"\"|'''|\"|')|(?:\"\"\"|'''|\"|')$")


class Documentation:
    """Finds the comment before a definition among the file's comments, without walking its siblings.

    Asked in the order of the text: a comment documents the first definition behind it, and no other.
    """

    def __init__(self, raw: bytes, comments: Sequence[tuple[int, int]], grammar: Grammar) -> None:
        self._raw = raw
        self._pattern = grammar.doc_comment
        self._starts = [start for start, _ in comments]
        self._ends = [end for _, end in comments]
        self._told = -1

    def of(self, start: int, doc: tuple[int, int] | None) -> str | None:
        """The documentation of a definition at `start`, `doc` being a string in it that documents it."""
        if doc is not None:
            text = self._raw[slice(*doc)].decode("utf-8", "replace").strip()
            return inspect.cleandoc(_QUOTES.sub("", text)) or None
        return self._before(start) if self._pattern is not None else None

    def without_comments(self, start: int, end: int) -> bytes:
        """The text between two places, a blank where a comment is."""
        pieces: list[bytes] = []
        for at in range(bisect.bisect_left(self._starts, start), bisect.bisect_left(self._starts, end)):
            pieces.append(self._raw[start : self._starts[at]])
            start = self._ends[at]
        return b" ".join([*pieces, self._raw[start:end]])

    def _before(self, start: int) -> str | None:
        last = bisect.bisect_right(self._ends, start) - 1
        if last <= self._told or not self._reaches(self._ends[last], start):
            return None
        self._told = last
        if self._is_behind_code(self._starts[last]):
            return None
        first = last
        while first and self._touches(first):
            first -= 1
        comments = self._raw[self._starts[first] : self._ends[last]].decode("utf-8", "replace")
        if self._pattern is None or not self._pattern.search(comments):
            return None
        return _dedented(_FRAME.sub("", comments)) or None

    def _reaches(self, end: int, start: int) -> bool:
        if start - end > LONGEST_GAP:
            return False
        gap = self._raw[end:start]
        return not _BLANK_LINE.search(gap) and not _CODE.search(gap)

    def _is_behind_code(self, start: int) -> bool:
        before = self._raw[max(0, start - LONGEST_INDENT) : start]
        return bool(before[before.rfind(b"\n") + 1 :].strip())

    def _touches(self, at: int) -> bool:
        """Whether the comment before goes on in this one."""
        gap = self._raw[self._ends[at - 1] : self._starts[at]]
        return not gap.strip() and gap.count(b"\n") <= 1 and not self._is_behind_code(self._starts[at - 1])


def _dedented(text: str) -> str:
    return "\n".join(line.strip() for line in lines_of(text.strip()))
