"""The files of a head's tree as rows of `snapshots`.

Names in a tree are bytes that anyone can choose (`..`, `.git`, names with `/`); here they are only
ever text, never a path that is opened. Two entries that would be one row stop the run, since the
path is a row's key.

Cost: one read per tree, one header per file, and the content of those files whose language or
origin the name leaves open.
"""

import functools
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.extract.languages import HEAD_BYTES, check_languages, classify
from lakehouse_assets.sources.batches import Columns
from lakehouse_assets.sources.globs import path_filter
from lakehouse_assets.sources.head import Head
from lakehouse_assets.sources.objects import Objects, unreadable
from lakehouse_assets.sources.paths import raw_path, stored_path

__all__ = ["ROWS_PER_BATCH", "raw_path", "read_snapshot", "stored_path"]

ROWS_PER_BATCH = 10_000

_SCHEMA = arrow_schema(SNAPSHOTS.columns)
_ID_BYTES = 20
_TYPE_BITS = 0o170000
_TREE = 0o040000
_OWNER_MAY_EXECUTE = 0o100


def read_snapshot(git_dir: Path, repository: Repository, head: Head) -> Iterator[pa.RecordBatch]:
    """Every file of the head's tree that the repository's globs and languages keep, in git's order."""
    languages = frozenset(check_languages(repository.languages))
    keeps = path_filter(repository.include, repository.exclude)
    objects = Objects(git_dir, repository.name)
    columns = Columns(_SCHEMA)
    seen: set[str] = set()
    for raw, mode, sha in _files(objects, head.tree_sha):
        path = stored_path(raw)
        if path in seen:
            raise unreadable(repository.name, f"tree {head.tree_sha}", f"it has {path!r} twice")
        seen.add(path)
        text = raw.decode("utf-8", "surrogateescape")
        if not keeps(text):
            continue
        mode_text, kind = _mode(mode)
        size = None if kind == "submodule" else objects.size(sha)
        found = classify(text, size or 0, kind, functools.partial(_beginning, objects, sha))
        if languages and found.language not in languages:
            continue
        columns.append(
            repository.name,
            path,
            sha,
            mode_text,
            kind,
            size,
            found.language,
            found.is_generated,
            found.is_vendored,
            found.is_test,
        )
        if len(columns) >= ROWS_PER_BATCH:
            yield from columns.drain()
    yield from columns.drain()


def _files(objects: Objects, tree: str) -> Iterator[tuple[bytes, int, str]]:
    """Path, mode and id of everything but trees; an explicit stack, since trees may be nested deeply."""
    stack = [_entries(objects, tree, b"")]
    while stack:
        for path, mode, sha in stack[-1]:
            if mode & _TYPE_BITS == _TREE:
                stack.append(_entries(objects, sha, path + b"/"))
                break
            yield path, mode, sha
        else:
            stack.pop()


def _entries(objects: Objects, tree: str, prefix: bytes) -> Iterator[tuple[bytes, int, str]]:
    data = objects.read(tree, "tree")
    at = 0
    while at < len(data):
        mode_end = data.find(b" ", at)
        name_end = data.find(b"\x00", mode_end)
        following = name_end + 1 + _ID_BYTES
        mode = data[at:mode_end]
        if mode_end < 0 or name_end < 0 or following > len(data) or not mode or mode.strip(b"01234567"):
            raise unreadable(objects.name, f"tree {tree}", f"its entry at byte {at} is broken")
        yield prefix + data[mode_end + 1 : name_end], int(mode, 8), data[name_end + 1 : following].hex()
        at = following


def _mode(mode: int) -> tuple[str, str]:
    """A mode as git prints it, and its meaning. Old trees have modes that git no longer writes and reads like this."""
    match mode & _TYPE_BITS:
        case 0o100000:
            return ("100755", "executable") if mode & _OWNER_MAY_EXECUTE else ("100644", "file")
        case 0o120000:
            return "120000", "symlink"
        case _:
            return "160000", "submodule"


def _beginning(objects: Objects, sha: str) -> bytes:
    return objects.read(sha, "blob")[:HEAD_BYTES]
