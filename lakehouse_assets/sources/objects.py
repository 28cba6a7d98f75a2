"""The objects of one repository by id: the only place where libgit2's errors are met.

Every object that is missing, damaged or of another type than expected becomes a `SourceError`
that names the repository and the object. libgit2 checks an object's hash as it reads it, so
content that comes back is the content its id promises.
"""

import functools
from pathlib import Path
from typing import Literal

import pygit2
from pygit2.enums import ObjectType, RepositoryOpenFlag

from lakehouse_assets.core.errors import SourceError

ObjectKind = Literal["commit", "tree", "blob", "tag"]

GIT_ERRORS = (pygit2.GitError, OSError)
"""All that libgit2 raises on what it reads: its own errors, and the system's."""

_KINDS: dict[int, ObjectKind] = {
    ObjectType.COMMIT: "commit",
    ObjectType.TREE: "tree",
    ObjectType.BLOB: "blob",
    ObjectType.TAG: "tag",
}


class Objects:
    """Reads objects of the repository `name` at `git_dir`."""

    def __init__(self, git_dir: Path, name: str) -> None:
        self.name = name
        self.git = open_repository(git_dir, name)
        self._odb = self.git.odb

    def read(self, sha: str, kind: ObjectKind) -> bytes:
        found, data = self.read_any(sha, expected=kind)
        if found != kind:
            raise unreadable(self.name, f"{kind} {sha}", f"it is a {found}")
        return data

    def read_any(self, sha: str, *, expected: ObjectKind | Literal["object"] = "object") -> tuple[ObjectKind, bytes]:
        """An object of whatever kind; `expected` is what it is called if it cannot be read."""
        try:
            found, data = self._odb.read(pygit2.Oid(hex=sha))
        except GIT_ERRORS as error:
            raise unreadable(self.name, f"{expected} {sha}", error) from error
        return _KINDS[found], data

    def size(self, sha: str, kind: ObjectKind = "blob") -> int:
        """Bytes of an object, from its header alone: the content is neither read nor checked."""
        try:
            found, size = self._odb.read_header(pygit2.Oid(hex=sha))
        except GIT_ERRORS as error:
            raise unreadable(self.name, f"{kind} {sha}", error) from error
        if _KINDS[found] != kind:
            raise unreadable(self.name, f"{kind} {sha}", f"it is a {_KINDS[found]}")
        return size


def open_repository(git_dir: Path, name: str) -> pygit2.Repository:
    """Open exactly `git_dir` (a git directory or a work tree that has one), never a parent of it."""
    _prepare_libgit2()
    try:
        return pygit2.Repository(str(git_dir), RepositoryOpenFlag.NO_SEARCH)
    except GIT_ERRORS as error:
        raise SourceError(
            subject=f"repository {name}",
            seen=f"{git_dir} cannot be opened as a git repository: {error}",
            why="its commits and files are read from there",
            remedy="check that it is still there and that `git fsck` accepts it (SHA-256 and reftable repositories "
            "are not supported), or register it again",
        ) from error


def unreadable(name: str, what: str, error: object) -> SourceError:
    """The error for an object of the repository `name` that cannot be read."""
    seen = "it is missing" if isinstance(error, pygit2.NotFoundError) else error
    return SourceError(
        subject=f"repository {name}",
        seen=f"{what} cannot be read: {seen}",
        why="the tables would lack rows that the commit has",
        remedy="run `git fsck --full` there; a damaged or missing object comes back with a fresh clone, "
        "and a partial clone has to fetch its objects first (`git fetch --refetch`)",
    )


def shallow_boundary(objects: Objects) -> frozenset[str]:
    """The commits at which a shallow clone was cut off."""
    git_dir = Path(objects.git.path)
    common = git_dir / "commondir"  # a linked work tree keeps them with the repository it belongs to
    if common.is_file():
        git_dir = git_dir / common.read_text().strip()
    shallow = git_dir / "shallow"
    return frozenset(shallow.read_text().split()) if shallow.is_file() else frozenset()


@functools.cache
def _prepare_libgit2() -> None:
    # Git refuses repositories of other users because their configuration can name programs to run
    # (hooks, fsmonitor, filters). libgit2 runs none of these, and we only read objects and
    # references, so shared and mounted repositories are safe to read as they are.
    pygit2.settings.owner_validation = False
    # A partial clone reads like any other as long as the objects asked for are there.
    pygit2.settings.set_extensions(["partialclone"])
