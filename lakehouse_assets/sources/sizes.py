"""How large a repository is, as an estimate of the work in it: the bytes of its object files."""

from pathlib import Path

import pygit2

from lakehouse_assets.core.repository import Repository
from lakehouse_assets.sources.mirror import git_directory
from lakehouse_assets.sources.objects import GIT_ERRORS


def object_bytes(repository: Repository, mirrors: Path) -> int:
    """Cost: one look at each pack and each folder of loose objects. A repository that cannot be opened has no size."""
    try:
        objects = Path(pygit2.Repository(str(git_directory(repository, mirrors))).path) / "objects"
    except GIT_ERRORS:
        return 0
    return sum(entry.stat().st_size for folder in objects.iterdir() if folder.is_dir() for entry in folder.iterdir())
