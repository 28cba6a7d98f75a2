"""How much of a worker one file may take, and how work on it ends when it takes more."""

import time
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Size and nodes decide alike on every machine; seconds are the net below them, wide enough to be met by none."""

    characters: int = 4_000_000
    """A tree takes some 250 times the memory of its text."""
    nodes: int = 1_000_000
    flow_edges: int = 2_000_000
    """Of data flow: a variable that is bound n times and used n times may have n * n."""
    seconds: float = 120.0
    """Processor time of the thread, so that a busy machine cuts nothing off."""


class LimitReachedError(Exception):
    """Work on one file has to end here; never leaves the extractor."""


class Deadline:
    """Asked now and then by loops that could run long, or make much of little."""

    def __init__(self, seconds: float, flow_edges: int = Limits.flow_edges) -> None:
        self._seconds = seconds
        self._flow_edges = flow_edges
        self._end = time.thread_time() + seconds
        self._asked = 0

    def check(self) -> None:
        """Looks at the clock only now and then: it takes longer than what most callers do between two calls."""
        self._asked += 1
        if self._asked % 64 == 0 and time.thread_time() > self._end:
            raise LimitReachedError(f"took more than {self._seconds:g} s of processor time")

    def check_edges(self, count: int) -> None:
        if count > self._flow_edges:
            raise LimitReachedError(f"has more than {self._flow_edges} edges of data flow")
