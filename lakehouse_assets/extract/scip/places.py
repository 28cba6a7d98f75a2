"""Where a name stands: the graph knows the syntax around it, an index wants the name itself.

Lines and columns are SCIP's, from 0, columns in bytes of UTF-8. Whatever comes in, what goes out is within the text.
"""

import re
from functools import lru_cache

from lakehouse_assets.extract.scip.model import Range

_LINE_END = re.compile(b"\r\n|\r|\n")
_WORD = rb"[A-Za-z0-9_\x80-\xff]"
_NAME_AT_END = frozenset(
    {
        "Attribute",
        "attribute",
        "member_expression",
        "field_expression",
        "selector_expression",
        "field_access",
        "scoped_identifier",
        "qualified_identifier",
        "member_access_expression",
    }
)
"""Syntax of the form `a.b`, which is called by its last name."""

_LINES_OF_A_HEAD = 20
"""A definition's name is found in its first lines, if at all."""


class Places:
    """Names in one text."""

    def __init__(self, text: str) -> None:
        self._lines = _LINE_END.split(text.encode("utf-8", "backslashreplace"))

    def of_node(self, kind: str, name: str | None, whole: Range) -> Range:
        """The name within a node's range; the whole node if it has none there."""
        whole = self.within(whole)
        if not name:
            return whole
        size = len(name.encode())
        start_line, start, end_line, end = whole
        at_end = (end_line, end - size, end_line, end)
        at_start = (start_line, start, start_line, start + size)
        for place in (at_end, at_start) if kind in _NAME_AT_END else (at_start,):
            if place[1] >= 0 and self._says(place, name):
                return place
        return self._found(name, whole) or whole

    def of_binding(self, kind: str, name: str, whole: Range) -> Range:
        """Where a node binds a name: `b` in `import a as b`."""
        if kind == "alias" and " as " in name:
            bound = name.rpartition(" as ")[2]
            *_, end_line, end = whole = self.within(whole)
            place = (end_line, end - len(bound.encode()), end_line, end)
            return place if place[1] >= 0 and self._says(place, bound) else whole
        return self.of_node(kind, bound_name(kind, name), whole)

    def of_definition(self, name: str, whole: Range) -> Range:
        """A definition's name in its head; nothing of it, at its beginning, if it has none."""
        whole = self.within(whole)
        return self._found(name, whole) or (*whole[:2], *whole[:2])

    def within(self, whole: Range) -> Range:
        """The range, cut off where the text ends."""
        start_line, start, end_line, end = whole
        last = len(self._lines) - 1
        start_line = min(max(start_line, 0), last)
        end_line = min(max(end_line, start_line), last)
        start = min(max(start, 0), len(self._lines[start_line]))
        end = min(max(end, start if end_line == start_line else 0), len(self._lines[end_line]))
        return start_line, start, end_line, end

    def _says(self, place: Range, name: str) -> bool:
        """Whether the name stands there, and is not part of another."""
        line, start, _, end = place
        found = _word(name).match(self._lines[line], start)
        return found is not None and found.end() == end

    def _found(self, name: str, whole: Range) -> Range | None:
        pattern = _word(name)
        start_line, start, end_line, end = whole
        for line in range(start_line, min(end_line, start_line + _LINES_OF_A_HEAD) + 1):
            stop = end if line == end_line else len(self._lines[line])
            found = pattern.search(self._lines[line], start if line == start_line else 0, stop)
            if found:
                return line, found.start(), line, found.end()
        return None


@lru_cache(1024)
def _word(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?<!%b)%b(?!%b)" % (_WORD, re.escape(name.encode()), _WORD))


def bound_name(kind: str, name: str) -> str:
    """The name by which what a node binds is known."""
    if kind != "alias":
        return name
    imported, _, other = name.partition(" as ")
    return other or imported.partition(".")[0]
