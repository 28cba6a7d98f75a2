"""One process at a time works on a repository, whoever started it: the queue, a command, another machine on shared
storage.

Invariant: a run holds its repositories from its first step to its last, and a removal holds those that it removes. Who
wants one of them waits. The system lets go when a process ends, however it ends, so that a kill leaves nothing behind.

Cost: one byte of a lock file per repository; taking a thousand takes milliseconds.
"""

import fcntl
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.hashing import fingerprint

OF_MONTHS = "months of all repositories"
"""Held by who makes months, which have rows of every repository, and by who removes one. No repository is called so."""

_PLACES = 2**40
_files: dict[tuple[int, Path], int] = {}
"""By process and place the open lock file. It is never closed: closing any handle of it would free all its locks."""
_holders: Counter[tuple[int, int]] = Counter()
"""By lock file and place how many in the process hold it: the command, and the run that it carries out."""


def hold(root: Path, names: Iterable[str]) -> None:
    """Take the locks of all names, in the order in which everyone takes them."""
    handle = _opened(root)
    for place, name in _places(names):
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError):
            report("concurrency", name, "waiting until another run or command is done with it", level="warning")
            fcntl.lockf(handle, fcntl.LOCK_EX, 1, place)
        _holders[handle, place] += 1


def let_go(root: Path, names: Iterable[str]) -> None:
    """Free the locks that nobody else in this process holds."""
    handle = _opened(root)
    for place, _ in _places(names):
        _holders[handle, place] -= 1
        if not _holders[handle, place]:
            del _holders[handle, place]
            fcntl.lockf(handle, fcntl.LOCK_UN, 1, place)


@contextmanager
def held(root: Path, names: Iterable[str]) -> Iterator[None]:
    """Have the repositories to oneself inside the scope."""
    wanted = list(names)
    hold(root, wanted)
    try:
        yield
    finally:
        let_go(root, wanted)


def _places(names: Iterable[str]) -> list[tuple[int, str]]:
    return sorted((int(fingerprint([name]), 16) % _PLACES, name) for name in names)


def _opened(root: Path) -> int:
    key = (os.getpid(), root)
    if key not in _files:
        folder = root / ".locks"
        folder.mkdir(parents=True, exist_ok=True)
        _files[key] = os.open(folder / "repositories", os.O_RDWR | os.O_CREAT, 0o644)
    return _files[key]
