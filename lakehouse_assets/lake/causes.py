"""What lies behind an engine's error, as people read it: the subject, what was seen, why it matters, what to do.

Delta-rs, Arrow, DuckDB, SQLite and Spark each tell of a full disk or a lost file in words of their own, some only in
the text of another runtime's traceback. Invariant: what is not known here stays the error that it was.
"""

import re
from collections.abc import Callable

from lakehouse_assets.core.errors import EnvironmentNotReadyError, LakehouseError, LakeStateError

_KEPT = "the write stopped before its commit, so the table is as it was before"
_TABLE = re.compile(r"(/?[^\s'\"`]*/lake/)(\w+)/")
_DATA_FILE = re.compile(r"[^\s'\"`/]+\.parquet")

_FULL = ("No space left on device", "Disk quota exceeded", "database or disk is full")
_FAILING = ("disk I/O error", "Input/output error")
_READ_ONLY = ("Read-only file system", "attempt to write a readonly database", "unable to open database file")
_FORBIDDEN = ("Permission denied", "Operation not permitted")
_ABSENT = ("No such file or directory", "not found", "FILE_NOT_EXIST", "No files found that match")
_DAMAGED = (
    "Parquet magic bytes not found",
    "No magic bytes found",
    "too small to be a Parquet file",
    "Invalid Parquet file",
    "Parquet file size is",
    "Corrupt footer",
    "is not a Parquet file",
    "CANNOT_READ_FILE_FOOTER",
    "Failed to fetch metadata for file",
    "deserialize thrift",
)
_OUT_OF_MEMORY = ("MemoryError", "OutOfMemoryError", "ArrowMemoryError")
_ENDED = ("Python worker exited unexpectedly", "Python worker failed to connect back", "Cannot allocate memory")
_HUNG = ("idle timeout", "idleTimeoutSeconds", "exceeded the idle")


def cause_of(subject: str, text: str) -> LakehouseError | None:
    """What to tell if `text` is of a fault that is known; None if it is not."""
    for words, told in _KNOWN:
        if any(each in text for each in words):
            found = told(subject, text)
            if found is not None:
                return found
    return None


def _full(subject: str, text: str) -> LakehouseError:
    return EnvironmentNotReadyError(
        subject=subject,
        seen="the disk is full",
        why=_KEPT,
        remedy="free some space (see `lakehouse doctor`) and run it again",
    )


def _failing(subject: str, text: str) -> LakehouseError:
    return EnvironmentNotReadyError(
        subject=subject,
        seen="the disk is full, or it fails",
        why=_KEPT,
        remedy="look at the disk of LAKEHOUSE_HOME, free some space if it is full, and run it again",
    )


def _read_only(subject: str, text: str) -> LakehouseError:
    return EnvironmentNotReadyError(
        subject=_table(text) or subject,
        seen="its file system is read-only",
        why="rows can be asked for, but nothing can be written; what was there before is whole",
        remedy="mount it for writing, or set LAKEHOUSE_HOME to a place that can be written, and run it again",
    )


def _forbidden(subject: str, text: str) -> LakehouseError:
    return EnvironmentNotReadyError(
        subject=_table(text) or subject,
        seen=f"this user may not write or read it ({_line_with(text, _FORBIDDEN)})",
        why=_KEPT,
        remedy="give the user who runs this the rights to the whole of LAKEHOUSE_HOME, and run it again",
    )


def _absent(subject: str, text: str) -> LakehouseError | None:
    return _lost(subject, text, "is not there") if _DATA_FILE.search(text) else None


def _damaged(subject: str, text: str) -> LakehouseError:
    return _lost(subject, text, "cannot be read")


def _lost(subject: str, text: str, how: str) -> LakehouseError:
    file, place = _DATA_FILE.search(text), _TABLE.search(text)
    folder = f"{place[1]}{place[2]}" if place else "the table's folder"
    return LakeStateError(
        subject=_table(text) or subject,
        seen=f"its data file {file[0] if file else 'of these rows'} {how}",
        why="the table's log says that it holds rows, and they are nowhere else",
        remedy=f"restore the file from a backup; or move {folder} away, and `lakehouse sync` builds the table anew",
    )


def _no_memory(subject: str, text: str) -> LakehouseError:
    return EnvironmentNotReadyError(
        subject=subject,
        seen="memory ran out",
        why=_KEPT,
        remedy="give it more memory, or fewer cores at once by LAKEHOUSE_CORES, and run it again",
    )


def _ended(subject: str, text: str) -> LakehouseError:
    return EnvironmentNotReadyError(
        subject=subject,
        seen="a Python worker of Spark ended without a word, most often because the system ran out of memory",
        why=_KEPT,
        remedy="give it more memory, or fewer cores at once by LAKEHOUSE_CORES, and run it again",
    )


def _hung(subject: str, text: str) -> LakehouseError:
    return EnvironmentNotReadyError(
        subject=subject,
        seen="a Python worker of Spark stood still and was ended",
        why=_KEPT,
        remedy="run it again; if it stands still again, look for the file that it was at in the log, and exclude it",
    )


_KNOWN: tuple[tuple[tuple[str, ...], Callable[[str, str], LakehouseError | None]], ...] = (
    (_FULL, _full),
    (_FAILING, _failing),
    (_READ_ONLY, _read_only),
    (_FORBIDDEN, _forbidden),
    (_DAMAGED, _damaged),
    (_HUNG, _hung),
    (_OUT_OF_MEMORY, _no_memory),
    (_ENDED, _ended),
    (_ABSENT, _absent),
)


def _table(text: str) -> str | None:
    found = _TABLE.search(text)
    return f"table {found[2]}" if found else None


def _line_with(text: str, words: tuple[str, ...]) -> str:
    return next(line.strip() for line in text.splitlines() if any(each in line for each in words))[:300]
