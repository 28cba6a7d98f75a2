"""Texts of files for whoever asks, the latest kept.

Invariant: a text is read once, however many ask for it at the same time. Reading one text costs what reading many does,
since the column has to be gone through: so those that are missing at the same time are read together. Cost: a read of
`blobs` at a time.
"""

import threading
from collections import OrderedDict

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.text import lines_of
from lakehouse_assets.lake.stored_texts import stored_texts
from lakehouse_assets.lake.tables import Lake

_KEPT = 200

Lines = tuple[str, ...]


class Texts:
    """By blob sha, as lines. Safe to ask from several threads."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._held: OrderedDict[str, Lines | None] = OrderedDict()
        self._wanted: set[str] = set()
        self._lock = threading.Lock()
        self._reading = threading.Lock()

    def lines(self, blob: str) -> Lines:
        with self._lock:
            is_held, found = self._look(blob)
            if not is_held:
                self._wanted.add(blob)
        if not is_held:
            found = self._read(blob)
        if found is None:
            raise BadInputError(
                subject=f"content {blob[:12]}",
                seen="it has no text in the lake",
                why="there is nothing to show",
                remedy="contents that are not text are known by their id only",
            )
        return found

    def _read(self, blob: str) -> Lines | None:
        """Whoever comes first reads for all who wait behind him."""
        with self._reading:
            with self._lock:
                is_held, found = self._look(blob)
                if is_held:
                    return found
                wanted, self._wanted = (self._wanted - self._held.keys()) | {blob}, set()
            texts = stored_texts(self._lake, sorted(wanted))
            read = {each: tuple(lines_of(texts[each])) if each in texts else None for each in wanted}
            with self._lock:
                self._held |= read
                while len(self._held) > max(_KEPT, len(read)):
                    self._held.popitem(last=False)
            return read[blob]

    def _look(self, blob: str) -> tuple[bool, Lines | None]:
        if blob not in self._held:
            return False, None
        self._held.move_to_end(blob)
        return True, self._held[blob]
