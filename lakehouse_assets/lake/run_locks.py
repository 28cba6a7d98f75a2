"""Which runs are alive: each holds the lock of a file of its own, which ends with its process, however that ends.

A file that nobody has the lock of is that of a run whose process was killed; a run that ended takes its file away. One
without a file may not have come to its first step: nothing is known of it. POSIX locks, as network file systems keep
them.
"""

import fcntl
import os
import time
from pathlib import Path

_OLD_SECONDS = 24 * 3600
"""After a day nobody asks any more whether a run is alive."""

_held: dict[tuple[int, str], tuple[int, int]] = {}
"""By process and run the open lock file, and how many in the process asked for it. Closing it frees the lock."""


def begin(root: Path, run_id: str) -> None:
    """Say that this process carries the run out. The file gets its name when its lock is held, and not before."""
    key = (os.getpid(), run_id)
    if key in _held:
        handle, times = _held[key]
        _held[key] = handle, times + 1
        return
    folder = _folder(root)
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    nameless = folder / f".{run_id}"
    handle = os.open(nameless, os.O_RDWR | os.O_CREAT, 0o644)
    fcntl.lockf(handle, fcntl.LOCK_EX)
    nameless.rename(folder / run_id)
    _held[key] = handle, 1


def end(root: Path, run_id: str) -> None:
    """Say that the run has ended; as often as it was begun."""
    handle, times = _held.pop((os.getpid(), run_id))
    if times > 1:
        _held[os.getpid(), run_id] = handle, times - 1
        return
    (_folder(root) / run_id).unlink(missing_ok=True)
    os.close(handle)


def is_known(root: Path, run_id: str) -> bool:
    """Whether a process has said that it carries the run out, and has not said that it has ended."""
    return (_folder(root) / run_id).exists()


def is_abandoned(root: Path, run_id: str) -> bool:
    """Whether the process that carried the run out is gone."""
    return (os.getpid(), run_id) not in _held and _is_free(_folder(root) / run_id)


def _is_free(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    finally:
        os.close(handle)
    return True


def _sweep(folder: Path) -> None:
    """Take away what runs that were killed have left."""
    own = {run_id for pid, run_id in _held if pid == os.getpid()}
    before = time.time() - _OLD_SECONDS
    for path in folder.iterdir():
        if path.name not in own and path.stat().st_mtime < before and _is_free(path):
            path.unlink(missing_ok=True)


def _folder(root: Path) -> Path:
    return root / ".locks" / "runs"
