"""Which repositories can be opened."""

import os
from pathlib import Path

import pytest

from lakehouse_assets.core.errors import SourceError
from lakehouse_assets.sources.objects import Objects, open_repository
from lakehouse_assets_tests.support.repos import RepoBuilder, git


def test_a_directory_inside_a_work_tree_is_not_taken_for_the_repository(tmp_path: Path) -> None:
    RepoBuilder(tmp_path / "r")
    (tmp_path / "r" / "inner").mkdir()
    with pytest.raises(SourceError, match="cannot be opened"):
        open_repository(tmp_path / "r" / "inner", "repo")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository to another user")
def test_a_repository_of_another_user_is_read(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    sha = repo.commit({"a": "1"})
    for place in [repo.path, *repo.path.rglob("*")]:
        os.chown(place, 12345, 12345)
    assert Objects(repo.path, "repo").read(sha, "commit").startswith(b"tree ")


def test_a_repository_with_other_hashes_is_refused_with_the_reason(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256", "r")
    with pytest.raises(SourceError, match="sha256"):
        open_repository(tmp_path / "r", "repo")


def test_a_partial_clone_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    origin = RepoBuilder(tmp_path / "origin", bare=True)
    sha = origin.commit({"a": "1"})
    git(origin.path, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--bare", "--filter=blob:none", origin.path.as_uri(), "partial.git")
    objects = Objects(tmp_path / "partial.git", "repo")
    assert objects.read(sha, "commit")
    with pytest.raises(SourceError, match="it is missing"):
        objects.size(origin.blob_of(sha, "a"))


def test_an_object_of_another_kind_is_refused(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    sha = repo.commit({"a": "1"})
    with pytest.raises(SourceError, match="it is a commit"):
        Objects(repo.path, "repo").read(sha, "tree")
