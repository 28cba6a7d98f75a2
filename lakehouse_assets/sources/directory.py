"""A plain directory as one commit whose id is its tree's hash.

Files are stored as blobs and trees in a bare shadow repository, and `refs/lakehouse/tree` is moved
to the root last: an interrupted run leaves the tree that was there before. The hash is the one that
`git write-tree` gives for the same files, so it changes exactly when they do.

Every file is hashed on every refresh, and only new content is written. What was once
stored stays in the shadow repository; deleting it costs no more than the next refresh.
"""

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

import pygit2
from pygit2.enums import ObjectType

from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.errors import SourceError
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.sources.objects import GIT_ERRORS

TREE_REFERENCE = "refs/lakehouse/tree"
TAKEN_TREES = "refs/lakehouse/trees/"
"""One reference per state that was ever taken: a run that began with one can end with it, though a newer one came."""

_TREE, _FILE, _EXECUTABLE, _LINK = b"40000", b"100644", b"100755", b"120000"
_OWNER_MAY_EXECUTE = 0o100


@dataclass(kw_only=True)
class _Folder:
    """A directory being stored: the subdirectories to visit, and the tree entries known so far."""

    path: bytes
    name: bytes = b""
    todo: list[bytes] = field(default_factory=list)
    entries: list[tuple[bytes, bytes, bytes]] = field(default_factory=list)
    """(key that git sorts by, mode and name, raw id)"""

    def add(self, mode: bytes, name: bytes, oid: pygit2.Oid) -> None:
        self.entries.append((name + b"/" if mode == _TREE else name, mode + b" " + name, oid.raw))

    def data(self) -> bytes:
        return b"".join(b"%s\x00%s" % (head, oid) for _, head, oid in sorted(self.entries))


def store_directory(repository: Repository, shadow: Path, *, skip: Path) -> None:
    """Store the files under the repository's location; `skip` and anything named `.git` are left out."""
    shadow.parent.mkdir(parents=True, exist_ok=True)
    git = pygit2.init_repository(str(shadow), bare=True)
    tree = _store(repository, git, _identity(skip))
    if tree is None:
        raise SourceError(
            subject=f"repository {repository.name}",
            seen=f"the directory {repository.location} has no files",
            why="a commit without files gives no rows to any table",
            remedy="put files there, or register the directory that has them",
        )
    git.references.create(f"{TAKEN_TREES}{tree}", tree, force=True)
    git.references.create(TREE_REFERENCE, tree, force=True)


def _store(repository: Repository, git: pygit2.Repository, skipped: tuple[int, int] | None) -> pygit2.Oid | None:
    """Id of the root tree, or None if there is no file. An explicit stack, since directories may be nested deeply."""
    stack = [_scan(repository, git, _Folder(path=os.fsencode(repository.location)), skipped)]
    while True:
        folder = stack[-1]
        if folder.todo:
            name = folder.todo.pop()
            inner = _Folder(path=os.path.join(folder.path, name), name=name)  # noqa: PTH118 - bytes
            stack.append(_scan(repository, git, inner, skipped))
            continue
        stack.pop()
        # Git has no empty directories.
        oid = git.write(ObjectType.TREE, folder.data()) if folder.entries else None
        if not stack:
            return oid
        if oid is not None:
            stack[-1].add(_TREE, folder.name, oid)


def _scan(repository: Repository, git: pygit2.Repository, folder: _Folder, skipped: tuple[int, int] | None) -> _Folder:
    """Store the files that lie directly in the folder, and note its subdirectories."""
    path = folder.path
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                path = entry.path
                if entry.name == b".git":
                    continue
                status = entry.stat(follow_symlinks=False)
                match stat.S_IFMT(status.st_mode):
                    case stat.S_IFDIR:
                        if (status.st_dev, status.st_ino) != skipped:
                            folder.todo.append(entry.name)
                    case stat.S_IFREG:
                        mode = _EXECUTABLE if status.st_mode & _OWNER_MAY_EXECUTE else _FILE
                        folder.add(mode, entry.name, _store_file(git, path))
                    case stat.S_IFLNK:
                        folder.add(_LINK, entry.name, git.create_blob(os.readlink(path)))  # noqa: PTH115 - bytes
                    case _:
                        shown = _shown(path)
                        message = f"{shown} is neither file, link nor directory, and is left out"
                        report("sources", repository.name, message, level="warning", path=shown)
    except GIT_ERRORS as error:
        raise SourceError(
            subject=f"repository {repository.name}",
            seen=f"{_shown(path)} cannot be read: {error}",
            why="the tree would lack what is there",
            remedy="give the user who runs this the right to read it, or move it out of the directory",
        ) from error
    return folder


def _store_file(git: pygit2.Repository, path: bytes) -> pygit2.Oid:
    """Hash first: most files are stored already, and compressing them to find that out costs several times more.

    Whether one is stored is asked of the file system: libgit2 would look for new packs at every miss.
    """
    text = os.fsdecode(path)
    oid = pygit2.hashfile(text)
    digits = str(oid)
    is_stored = os.path.exists(f"{git.path}objects/{digits[:2]}/{digits[2:]}")  # noqa: PTH110 - for every file
    return oid if is_stored else git.create_blob_fromdisk(text)


def _identity(path: Path) -> tuple[int, int] | None:
    if not path.exists():
        return None
    status = path.stat()
    return status.st_dev, status.st_ino


def _shown(path: bytes) -> str:
    return os.fsdecode(path).encode("utf-8", "backslashreplace").decode()
