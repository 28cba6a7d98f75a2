"""How much of a worker one file may take, and how work on it ends when it takes more."""

import time
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Size and nodes decide alike on every machine; seconds are the net below them, wide enough to be met by none."""

    characters: int = 6_000_000
    nodes: int = 2_000_000
    seconds: float = 120.0
    """Processor time of the thread, so that a busy machine cuts nothing off."""


class LimitReachedError(Exception):
    """Work on one file has to end here; never leaves the extractor."""


class Deadline:
    """Asked now and then by loops that could run long."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.thread_time() + seconds
        self._asked = 0

    def check(self) -> None:
        """Looks at the clock only now and then: it takes longer than what most callers do between two calls."""
        self._asked += 1
        if self._asked % 64 == 0 and time.thread_time() > self._end:
            raise LimitReachedError(f"took more than {self._seconds:g} s of processor time")
