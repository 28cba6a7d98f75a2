"""Which commit a name means, and what is said when it means none."""

from collections import Counter
from pathlib import Path

import pygit2
import pytest

from lakehouse_assets.core.errors import BadInputError, SourceError
from lakehouse_assets.sources.head import Head, resolve_head
from lakehouse_assets_tests.support.repos import RepoBuilder, git, registered


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path / "r")


def _head(repo: RepoBuilder, to: str | None = None, **settings) -> Head:
    return resolve_head(registered(repo.path, **settings), Path("unused"), to)


def test_without_a_ref_it_is_the_commit_of_head(repo: RepoBuilder) -> None:
    sha = repo.commit({"a": "1"})
    assert _head(repo) == Head(commit_sha=sha, tree_sha=repo.tree_of(sha), ref="main")


def test_a_detached_head_is_fine(repo: RepoBuilder) -> None:
    first = repo.commit({"a": "1"})
    repo.commit({"a": "2"})
    repo.detach(first)
    head = _head(repo)
    assert (head.commit_sha, head.ref) == (first, "HEAD (detached)")


def test_the_head_of_a_linked_work_tree_is_its_own(repo: RepoBuilder, tmp_path: Path) -> None:
    first = repo.commit({"a": "1"})
    repo.commit({"a": "2"})
    git(repo.path, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"), first)
    assert resolve_head(registered(tmp_path / "linked"), tmp_path).commit_sha == first


def test_a_ref_is_a_branch_a_remote_branch_a_tag_or_a_commit(repo: RepoBuilder) -> None:
    first = repo.commit({"a": "1"})
    repo.commit({"a": "2"})
    repo.commit({"a": "3"}, branch="topic/x", parents=[first])
    topic = git(repo.path, "rev-parse", "topic/x").decode().strip()
    repo.repository.references.create("refs/remotes/origin/far", first)
    repo.tag("v1", first)
    repo.tag("v2", first, annotated=True)
    repo.tag("v3", git(repo.path, "rev-parse", "refs/tags/v2").decode().strip(), annotated=True)
    for name in ("origin/far", "v1", "v2", "v3", first, first[:8], "refs/tags/v2", "main~1"):
        assert _head(repo, name).commit_sha == first, name
    assert _head(repo, "topic/x") == Head(commit_sha=topic, tree_sha=repo.tree_of(topic), ref="topic/x")


def test_the_followed_ref_counts_unless_another_is_asked_for(repo: RepoBuilder) -> None:
    first = repo.commit({"a": "1"})
    second = repo.commit({"a": "2"})
    repo.tag("v1", first)
    assert _head(repo, ref="v1").commit_sha == first
    assert _head(repo, "main", ref="v1").commit_sha == second
    assert _head(repo, "HEAD", ref="v1").commit_sha == second


def test_a_missing_ref_is_answered_with_its_neighbours(repo: RepoBuilder) -> None:
    sha = repo.commit({"a": "1"}, branch="develop")
    repo.repository.references.create("refs/remotes/origin/feature", sha)
    with pytest.raises(BadInputError, match="near it are develop"):
        _head(repo, "devlop")
    with pytest.raises(BadInputError, match="origin/feature"):
        _head(repo, "feature")


def test_a_followed_ref_that_went_away_is_the_sources_fault(repo: RepoBuilder) -> None:
    repo.commit({"a": "1"})
    with pytest.raises(SourceError, match="no branch, tag or commit"):
        _head(repo, ref="gone")


@pytest.mark.parametrize(
    "name", ["-x", "a b", "a..b", "main@{x}", "\udce9", "0" * 40, "abcdef12", ":/change", "main:a", "^", ""]
)
def test_no_text_gives_anything_but_a_commit_or_a_refusal(repo: RepoBuilder, name: str) -> None:
    sha = repo.commit({"a": "1"})
    try:
        found = _head(repo, name)
    except BadInputError:
        return
    assert found.commit_sha == sha


def test_an_ambiguous_abbreviation_is_refused(repo: RepoBuilder) -> None:
    ids = [pygit2.hash(str(number)) for number in range(2000)]  # of a few hundred, two begin alike
    beginnings = Counter(str(oid)[:4] for oid in ids)
    ((alike, times),) = beginnings.most_common(1)
    assert times > 1
    for number, oid in enumerate(ids):
        if str(oid).startswith(alike):
            repo.repository.create_blob(str(number).encode())
    with pytest.raises(BadInputError, match="give more digits"):
        _head(repo, alike)


def test_a_name_of_two_different_commits_is_refused_and_the_full_name_helps(repo: RepoBuilder) -> None:
    first = repo.commit({"a": "1"})
    second = repo.commit({"a": "2"})
    repo.tag("main", first)
    with pytest.raises(BadInputError, match="refs/heads/main, refs/tags/main"):
        _head(repo, "main")
    assert _head(repo, "refs/heads/main").commit_sha == second
    assert _head(repo, "refs/tags/main").commit_sha == first


def test_a_tag_of_something_else_than_a_commit_is_refused(repo: RepoBuilder) -> None:
    sha = repo.commit({"a": "1"})
    repo.tag("tree", repo.tree_of(sha), annotated=True)
    with pytest.raises(BadInputError, match="not to a commit"):
        _head(repo, "tree")


def test_an_empty_repository_has_nothing_to_read(repo: RepoBuilder) -> None:
    with pytest.raises(SourceError, match="no branches"):
        _head(repo)


def test_a_head_that_points_nowhere_is_told_with_the_branches_there_are(repo: RepoBuilder) -> None:
    repo.commit({"a": "1"}, branch="develop")
    with pytest.raises(SourceError, match=r"refs/heads/main, which does not exist; the branches are develop"):
        _head(repo)


@pytest.mark.parametrize("damage", [RepoBuilder.corrupt, RepoBuilder.remove])
def test_a_damaged_head_commit_is_named_with_the_remedy(repo: RepoBuilder, damage) -> None:
    sha = repo.commit({"a": "1"})
    damage(repo, sha)
    for to in (None, "main"):
        with pytest.raises(SourceError, match=sha) as failed:
            resolve_head(registered(repo.path), Path("unused"), to)
        assert "git fsck" in failed.value.remedy


def test_a_repository_that_went_away_is_an_error_of_the_source(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be opened"):
        resolve_head(registered(tmp_path / "gone"), tmp_path)
