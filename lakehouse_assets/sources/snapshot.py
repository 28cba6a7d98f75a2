"""The files of a head's tree as rows of `snapshots`.

Names in a tree are bytes that anyone can choose (`..`, `.git`, names with `/`); here they are only
ever text, never a path that is opened. Two entries that would be one row stop the run, since the
path is a row's key.

Cost: one read per tree, one header per file, and the content of those files whose language or
origin the name leaves open. Of a later commit only the trees and files that differ are read.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.extract.languages import HEAD_BYTES, check_languages, classify
from lakehouse_assets.sources.batches import Columns
from lakehouse_assets.sources.globs import path_filter
from lakehouse_assets.sources.head import Head
from lakehouse_assets.sources.objects import Objects, unreadable
from lakehouse_assets.sources.paths import raw_path, stored_path
from lakehouse_assets.sources.trees import NotComparable, changes_since, tree_files

__all__ = ["ROWS_PER_BATCH", "raw_path", "read_snapshot", "read_snapshot_changes", "stored_path"]

ROWS_PER_BATCH = 10_000

_SCHEMA = arrow_schema(SNAPSHOTS.columns)
_TYPE_BITS = 0o170000
_OWNER_MAY_EXECUTE = 0o100


@dataclass(frozen=True, kw_only=True)
class SnapshotChanges:
    """The rows of the files at `paths`, all of them: a path without a row is gone, or no longer kept."""

    paths: tuple[str, ...]
    rows: pa.Table


def read_snapshot(git_dir: Path, repository: Repository, head: Head) -> Iterator[pa.RecordBatch]:
    """Every file of the head's tree that the repository's globs and languages keep, in git's order."""
    objects = Objects(git_dir, repository.name)
    files = _Files(objects, repository)
    seen: set[str] = set()
    for raw, mode, sha in tree_files(objects, head.tree_sha):
        path = stored_path(raw)
        if path in seen:
            raise unreadable(repository.name, f"tree {head.tree_sha}", f"it has {path!r} twice")
        seen.add(path)
        files.append(path, raw, mode, sha)
        if len(files.columns) >= ROWS_PER_BATCH:
            yield from files.columns.drain()
    yield from files.columns.drain()


def count_changes(git_dir: Path, name: str, head: Head, since: str) -> int | None:
    """How many files differ between the commit `since` and the head; None where that commit is gone."""
    if since in (head.commit_sha, head.tree_sha):
        return 0
    changes = changes_since(Objects(git_dir, name), since, head.tree_sha)
    return None if isinstance(changes, NotComparable) else len(changes.files) + len(changes.gone)


def read_snapshot_changes(
    git_dir: Path, repository: Repository, head: Head, since: str
) -> SnapshotChanges | NotComparable:
    """The files that differ between the commit `since` and the head: the rows that `read_snapshot` has of them.

    A row follows from path, mode and content alone, so that rows of all other paths are as they were.
    """
    objects = Objects(git_dir, repository.name)
    changes = changes_since(objects, since, head.tree_sha)
    if isinstance(changes, NotComparable):
        return changes
    files = _Files(objects, repository)
    paths: list[str] = []
    for raw, mode, sha in changes.files:
        path = stored_path(raw)
        if files.append(path, raw, mode, sha):
            paths.append(path)
    looked_at = len(paths)
    paths += [stored_path(raw) for raw in changes.gone if files.keeps(_text(raw))]
    report("sources", repository.name, "files that differ", classified=looked_at, gone=len(paths) - looked_at)
    return SnapshotChanges(paths=tuple(paths), rows=pa.Table.from_batches(files.columns.drain(), schema=_SCHEMA))


class _Files:
    """Rows of the files that the repository's settings keep."""

    def __init__(self, objects: Objects, repository: Repository) -> None:
        self._objects = objects
        self._languages = frozenset(check_languages(repository.languages))
        self.keeps = path_filter(repository.include, repository.exclude)
        self.columns = Columns(_SCHEMA)

    def append(self, path: str, raw: bytes, mode: int, sha: str) -> bool:
        """Add the file's row, if it is kept; whether the globs keep it, whatever its language."""
        text = _text(raw)
        if not self.keeps(text):
            return False
        objects = self._objects
        mode_text, kind = _mode(mode)
        size = None if kind == "submodule" else objects.size(sha)
        found = classify(text, size or 0, kind, functools.partial(_beginning, objects, sha))
        if not self._languages or found.language in self._languages:
            self.columns.append(
                objects.name,
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
        return True


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


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
