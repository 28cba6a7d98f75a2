"""Where a repository is read from, and how that place is brought up to date.

Invariant: `mirrors/<name>.git` is either absent or a repository that can be read; it is built
beside its place and renamed into it. One process at a time refreshes a mirror; readers need no lock, since
objects are only added and references move last.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import assert_never

from lakehouse_assets.core.diagnostics import phase, report
from lakehouse_assets.core.repository import Repository, check_name
from lakehouse_assets.sources.directory import store_directory
from lakehouse_assets.sources.remote import mirror_remote


def git_directory(repository: Repository, mirrors: Path) -> Path:
    """Where libgit2 reads the repository: in place, or its mirror."""
    match repository.kind:
        case "local_git":
            return Path(repository.location)
        case "remote_git" | "directory":
            return mirrors / f"{check_name(repository.name)}.git"
        case _:
            assert_never(repository.kind)


def refresh(repository: Repository, mirrors: Path, *, skip: Path | None = None) -> None:
    """Bring the mirror up to date; nothing to do for a repository that is read in place.

    `skip` is a directory to leave out of a plain directory: the lakehouse's home, which may lie inside it.
    """
    mirror = git_directory(repository, mirrors)
    match repository.kind:
        case "local_git":
            return
        case "remote_git":
            with _alone(repository.name, mirrors), phase("sources", repository.name, "fetch"):
                mirror_remote(repository, mirror, making=mirrors / ".making" / repository.name)
        case "directory":
            with _alone(repository.name, mirrors), phase("sources", repository.name, "read directory"):
                store_directory(repository, mirror, skip=mirrors if skip is None else skip)
        case _:
            assert_never(repository.kind)


@contextmanager
def _alone(name: str, mirrors: Path) -> Iterator[None]:
    """Hold the lock of one mirror. The system lets go of it when the process ends, however it ends."""
    lock = mirrors / ".locks" / name
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("sources", name, "waiting for another process that refreshes this mirror")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
