"""The first-parent line of a head, and what each commit on it changed."""

from pathlib import Path

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.sources.head import Head, resolve_head
from lakehouse_assets.sources.line import LineCommit, read_line
from lakehouse_assets_tests.support.repos import RepoBuilder, git, registered


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    """root ── a ── merge ── tip, with a side line that the merge takes in."""
    repo = RepoBuilder(tmp_path / "r")
    root = repo.commit({"a.py": "1", "b.py": "1"}, message="root")
    repo.commit({"a.py": "2"}, message="a")
    side = repo.commit({"s.py": "1"}, message="side", branch="side", parents=[root])
    repo.commit({"s.py": "1"}, message="merge", parents=[git(repo.path, "rev-parse", "main").decode().strip(), side])
    repo.commit({"a.py": None, "c.py": "2"}, message="tip\n\nbody")
    return repo


def _line(path: Path, **chosen) -> list[LineCommit]:
    repository = registered(path)
    return read_line(path, "repo", resolve_head(repository, Path()), **chosen)


def test_the_line_is_told_oldest_first_with_the_files_of_each(repo: RepoBuilder) -> None:
    line = _line(repo.path)
    assert [(each.subject, each.files_changed) for each in line] == [("root", 2), ("a", 1), ("merge", 1), ("tip", 2)]
    assert [each.before for each in line] == [None, *(each.commit_sha for each in line[:-1])]


@pytest.mark.parametrize(
    ("last", "subjects"), [(1, ["tip"]), (3, ["a", "merge", "tip"]), (99, ["root", "a", "merge", "tip"])]
)
def test_the_last_commits_are_as_many_as_there_are(repo: RepoBuilder, last: int, subjects: list[str]) -> None:
    assert [each.subject for each in _line(repo.path, last=last)] == subjects


def test_what_comes_after_a_commit_leaves_it_out(repo: RepoBuilder) -> None:
    line = _line(repo.path)
    assert _line(repo.path, after=line[1].commit_sha) == line[2:]
    assert _line(repo.path, after=line[-1].commit_sha) == []


def test_a_commit_that_is_not_on_the_line_is_refused(repo: RepoBuilder) -> None:
    side = git(repo.path, "rev-parse", "side").decode().strip()
    with pytest.raises(BadInputError, match="not on the first-parent line"):
        _line(repo.path, after=side)


def test_the_line_of_a_shallow_clone_ends_where_it_is_cut_off(repo: RepoBuilder, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "2", repo.path.as_uri(), "shallow")
    line = _line(tmp_path / "shallow")
    assert [(each.subject, each.before is None) for each in line] == [("merge", True), ("tip", False)]


def test_a_plain_directory_has_no_line(repo: RepoBuilder) -> None:
    with pytest.raises(BadInputError, match="plain directory"):
        read_line(repo.path, "repo", Head(commit_sha="1" * 40, tree_sha="1" * 40, ref="directory"))
