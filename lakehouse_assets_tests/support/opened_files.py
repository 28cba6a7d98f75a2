"""Which files of a folder are opened, whoever opens them: the kernel tells (inotify), so that no reader can be missed.

Rows are read by delta-rs, DuckDB, Arrow and the JVM, none of which a tracer of Python sees.
"""

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_OPENED = 0x20
_EVENT = struct.Struct("iIII")
_READ_AT_ONCE = 1 << 20

_libc = ctypes.CDLL(None, use_errno=True)


@contextmanager
def opened_in(folder: Path) -> Iterator[set[Path]]:
    """The files that are opened below `folder` while the scope is open; it is complete behind it.

    Folders that are made meanwhile are not looked into.
    """
    found: set[Path] = set()
    handle = _libc.inotify_init1(os.O_NONBLOCK)
    assert handle >= 0, os.strerror(ctypes.get_errno())
    try:
        folders: dict[int, Path] = {}
        for path in (folder, *(each for each in folder.rglob("*") if each.is_dir())):
            watch = _libc.inotify_add_watch(handle, os.fsencode(path), _OPENED)
            assert watch >= 0, os.strerror(ctypes.get_errno())
            folders[watch] = path
        yield found
        for watch, name in _events(handle):
            assert watch in folders, "the kernel's queue was too small for all that was opened"
            found.add(folders[watch] / name)
    finally:
        os.close(handle)


def _events(handle: int) -> Iterator[tuple[int, str]]:
    while True:
        try:
            held = os.read(handle, _READ_AT_ONCE)
        except BlockingIOError:
            return
        start = 0
        while start < len(held):
            watch, _, _, length = _EVENT.unpack_from(held, start)
            start += _EVENT.size
            yield watch, os.fsdecode(held[start : start + length].rstrip(b"\0"))
            start += length
