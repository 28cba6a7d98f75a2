"""What lies behind an engine's error, as people read it: the subject, what was seen, why it matters, what to do.

Delta-rs, Arrow, DuckDB, SQLite and Spark each tell of a full disk or a lost file in words of their own, some only in
the text of another runtime's traceback. Invariant: what is not known here stays the error that it was.
"""

import re
from dataclasses import dataclass

from lakehouse_assets.core.errors import EnvironmentNotReadyError, LakehouseError, LakeStateError
from lakehouse_assets.core.store_errors import known_store_error, store_of

_KEPT = "the write stopped before its commit, so the table is as it was before"
_TABLE = re.compile(r"(/?[^\s'\"`]*/lake/)(\w+)/")
_DATA_FILE = re.compile(r"[^\s'\"`/]+\.parquet")

_FEATURES = re.compile(r"Unsupported table features required: \[(?P<names>[^\]]*)\]")
"""How delta-rs refuses a table."""
_MORE_MEMORY = "give it more memory, or fewer cores at once by LAKEHOUSE_CORES, and run it again"


@dataclass(frozen=True, kw_only=True)
class _Surroundings:
    """A fault of the machine, by words that engines tell it with."""

    words: tuple[str, ...]
    seen: str
    remedy: str
    why: str = _KEPT
    shows_line: bool = False
    """Whether the line with the words is told too: it has the path."""


_SURROUNDINGS = (
    _Surroundings(
        words=("No space left on device", "Disk quota exceeded", "database or disk is full"),
        seen="the disk is full",
        remedy="free some space (see `lakehouse doctor`) and run it again",
    ),
    _Surroundings(
        words=("disk I/O error", "Input/output error"),
        seen="the disk is full, or it fails",
        remedy="look at the disk of LAKEHOUSE_HOME, free some space if it is full, and run it again",
    ),
    _Surroundings(
        words=("Read-only file system", "attempt to write a readonly database", "unable to open database file"),
        seen="its file system is read-only",
        why="rows can be asked for, but nothing can be written; what was there before is whole",
        remedy="mount it for writing, or set LAKEHOUSE_HOME to a place that can be written, and run it again",
    ),
    _Surroundings(
        words=("Permission denied", "Operation not permitted"),
        seen="this user may not write or read it",
        remedy="give the user who runs this the rights to the whole of LAKEHOUSE_HOME, and run it again",
        shows_line=True,
    ),
    _Surroundings(
        words=("idle timeout", "idleTimeoutSeconds", "exceeded the idle"),
        seen="a Python worker of Spark stood still and was ended",
        remedy="run it again; if it stands still again, look for the file that it was at in the log, and exclude it",
    ),
    _Surroundings(
        words=("MemoryError", "OutOfMemoryError", "ArrowMemoryError", "Out of Memory Error"),
        seen="memory ran out",
        remedy=_MORE_MEMORY,
    ),
    _Surroundings(
        words=("Python worker exited unexpectedly", "Python worker failed to connect back", "Cannot allocate memory"),
        seen="a Python worker of Spark ended without a word, most often because the system ran out of memory",
        remedy=_MORE_MEMORY,
    ),
)
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
_ABSENT = ("No such file or directory", "not found", "FILE_NOT_EXIST", "No files found that match")


def cause_of(subject: str, text: str) -> LakehouseError | None:
    """What to tell if `text` is of a fault that is known; None if it is not."""
    for known in _SURROUNDINGS:
        words = next((each for each in known.words if each in text), None)
        if words is not None:
            line = next(line.strip()[:300] for line in text.splitlines() if words in line)
            return EnvironmentNotReadyError(
                subject=_table(text) or subject,
                seen=f"{known.seen} ({line})" if known.shows_line else known.seen,
                why=known.why,
                remedy=known.remedy,
            )
    if lacking := _FEATURES.search(text):
        return LakeStateError(
            subject=_table(text) or subject,
            seen=f"the table asks for {lacking['names']}, which another program has turned on and delta-rs has not",
            why="the rows can be neither read nor written here; they are as they were",
            remedy="drop the feature in Spark (ALTER TABLE … DROP FEATURE …); or move the table's folder away, and "
            "`lakehouse sync` builds it anew",
        )
    if any(words in text for words in _DAMAGED):
        return _lost(subject, text, "cannot be read")
    if _DATA_FILE.search(text) and any(words in text for words in _ABSENT):
        return _lost(subject, text, "is not there")
    store = store_of(text)
    return known_store_error(subject, text, store) if store else None


def _lost(subject: str, text: str, how: str) -> LakehouseError:
    file, place = _DATA_FILE.search(text), _TABLE.search(text)
    folder = f"{place[1]}{place[2]}" if place else "the table's folder"
    return LakeStateError(
        subject=_table(text) or subject,
        seen=f"its data file {file[0] if file else 'of these rows'} {how}",
        why="the table's log says that it holds rows, and they are nowhere else",
        remedy=f"restore the file from a backup; or move {folder} away, and `lakehouse sync` builds the table anew",
    )


def _table(text: str) -> str | None:
    found = _TABLE.search(text)
    return f"table {found[2]}" if found else None
