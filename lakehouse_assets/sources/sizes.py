"""How large a repository is, as an estimate of the work in it: the bytes of its object files."""

import os
from pathlib import Path

import pygit2

from lakehouse_assets.core.repository import Repository
from lakehouse_assets.sources.mirror import git_directory
from lakehouse_assets.sources.objects import GIT_ERRORS


def object_bytes(repository: Repository, mirrors: Path) -> int:
    """Cost: one look at each pack and each folder of loose objects. A repository that cannot be opened has no size."""
    try:
        folder = Path(pygit2.Repository(str(git_directory(repository, mirrors))).path)
    except GIT_ERRORS:
        return 0
    shared = folder / "commondir"
    if shared.is_file():  # a worktree has its objects where it was made from
        folder /= shared.read_text().strip()
    found = [Path(place) / name for place, _, names in os.walk(folder / "objects") for name in names]
    return sum(_size(path) for path in found)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # git packs its objects together whenever it sees fit
        return 0
