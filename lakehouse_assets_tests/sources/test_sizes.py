"""The size of a repository is that of its objects, wherever git keeps them."""

from pathlib import Path

from lakehouse_assets.sources.sizes import object_bytes
from lakehouse_assets_tests.support.repos import RepoBuilder, registered


def test_a_worktree_is_as_large_as_the_repository_that_it_was_made_from(tmp_path: Path):
    made = RepoBuilder(tmp_path / "made")
    made.commit({"a.py": "x = 1\n" * 1000})
    made.repository.add_worktree("beside", str(tmp_path / "beside"))
    own, beside = (object_bytes(registered(tmp_path / name), tmp_path) for name in ("made", "beside"))
    assert own == beside > 0


def test_what_is_no_repository_has_no_size(tmp_path: Path):
    assert object_bytes(registered(tmp_path / "none"), tmp_path) == 0
