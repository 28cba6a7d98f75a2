"""What differs between two trees is what git says differs, and is found without entering what is equal."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings

from lakehouse_assets.core.errors import SourceError
from lakehouse_assets.sources import trees
from lakehouse_assets.sources.objects import Objects
from lakehouse_assets.sources.trees import NotComparable, TreeChanges, changes_since, tree_files
from lakehouse_assets_tests.support.histories import History, Step, steps
from lakehouse_assets_tests.support.repos import Change, Executable, Link, RepoBuilder, Submodule, git


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path / "r")


def _changes(repo: RepoBuilder, old: str, new: str) -> TreeChanges | NotComparable:
    return changes_since(Objects(repo.path, "repo"), old, repo.tree_of(new))


def _told_by_git(repo: RepoBuilder, old: str, new: str) -> tuple[dict[bytes, tuple[int, str]], set[bytes]]:
    """New or different files, and those that are gone, by `git diff-tree` without renames."""
    out = git(repo.path, "diff-tree", "-r", "-z", "--no-renames", old, new).split(b"\0")[:-1]
    files: dict[bytes, tuple[int, str]] = {}
    gone: set[bytes] = set()
    for facts, path in zip(out[::2], out[1::2], strict=True):
        _, mode, _, sha, kind = facts.split(b" ")
        if kind == b"D":
            gone.add(path)
        else:
            files[path] = (int(mode, 8), sha.decode())
    return files, gone


@given(steps(6))
@hypothesis_settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_differences_are_those_of_git(tmp_path_factory: pytest.TempPathFactory, taken: list[Step]) -> None:
    history = History(tmp_path_factory.mktemp("r") / "r")
    for step in taken:
        history.take(step)
    for old in history.commits:
        changes = _changes(history.builder, old, history.commits[-1])
        assert isinstance(changes, TreeChanges)
        files, gone = _told_by_git(history.builder, old, history.commits[-1])
        assert ({path: (mode, sha) for path, mode, sha in changes.files}, set(changes.gone)) == (files, gone)


@pytest.mark.parametrize(
    ("before", "changes"),
    [
        ({"a": "x"}, {"a": Executable(b"x")}),
        ({"a": "x"}, {"a": Link(b"x")}),
        ({"a": "x", "b": "y"}, {"a": None, "c": "x"}),
        ({"a": "x"}, {"a": None, "a/b": "x"}),
        ({"a/b": "x", "a/c/d": "x"}, {"a/b": None, "a/c/d": None, "a": "x"}),
        ({"a/b": "x"}, {"a/b": None, "b/b": "x"}),
        ({"a": "x"}, {"a": Submodule("1" * 40)}),
        ({"a": Submodule("1" * 40)}, {"a": Submodule("2" * 40)}),
        ({"a": "x"}, {}),
    ],
    ids=["mode", "link", "rename", "to directory", "to file", "directory renamed", "to submodule", "moved on", "none"],
)
def test_each_kind_of_change_is_what_git_says(
    repo: RepoBuilder, before: dict[str | bytes, Change], changes: dict[str | bytes, Change]
) -> None:
    old = repo.commit({**before, "kept/a": "x"})
    new = repo.commit(changes)
    found = _changes(repo, old, new)
    assert isinstance(found, TreeChanges)
    files = {path: (mode, sha) for path, mode, sha in found.files}
    assert (files, set(found.gone)) == _told_by_git(repo, old, new)
    assert len(files) + len(found.gone) == len(changes)


def test_equal_subtrees_are_not_entered(repo: RepoBuilder) -> None:
    old = repo.commit({"a/b/c.py": "1", "x/y/z.py": "1", "x/other.py": "1"})
    new = repo.commit({"x/other.py": "2"})
    for path in ("a", "x/y"):
        repo.remove(repo.blob_of(new, path))
    changes = _changes(repo, old, new)
    assert isinstance(changes, TreeChanges)
    assert [path for path, _, _ in changes.files] == [b"x/other.py"]


@pytest.mark.parametrize("lost", ["commit", "tree", "d"])
def test_an_older_state_that_is_gone_is_told_and_no_error(repo: RepoBuilder, lost: str) -> None:
    old = repo.commit({"d/a.py": "1"})
    new = repo.commit({"d/a.py": "2"})
    gone = {"commit": old, "tree": repo.tree_of(old), "d": repo.blob_of(old, "d")}[lost]
    repo.remove(gone)
    changes = _changes(repo, old, new)
    assert isinstance(changes, NotComparable)
    assert f"{gone} cannot be read: it is missing" in changes.reason


def test_a_newer_state_that_is_damaged_stops_the_reading(repo: RepoBuilder) -> None:
    old = repo.commit({"d/a.py": "1"})
    new = repo.commit({"d/a.py": "2"})
    repo.remove(repo.blob_of(new, "d"))
    with pytest.raises(SourceError, match="it is missing"):
        _changes(repo, old, new)


def test_what_names_no_tree_cannot_be_compared_with(repo: RepoBuilder) -> None:
    new = repo.commit({"a.py": "1"})
    changes = _changes(repo, repo.blob_of(new, "a.py"), new)
    assert isinstance(changes, NotComparable)
    assert "names no tree" in changes.reason


@pytest.mark.parametrize("names", [[b"a/b"], [b"a", b"a"], [b"", b"c"]])
def test_trees_whose_names_could_stand_for_one_path_are_left_to_the_whole_reading(
    repo: RepoBuilder, names: list[bytes]
) -> None:
    old = repo.commit({"a/b": "1"})
    oid = repo.repository.create_blob(b"x").raw
    tree = repo.write_raw_tree([(b"100644", name, oid) for name in names])
    assert isinstance(changes_since(Objects(repo.path, "repo"), old, tree), NotComparable)


def _bomb(repo: RepoBuilder, *, with_files: bool) -> str:
    """A tree of 12 levels with 10 names each that all lead to one tree: a million million files, or folders."""
    oid = repo.repository.create_blob(b"x").raw
    tree = repo.write_raw_tree([(b"100644", b"f", oid)] if with_files else [])
    for _ in range(12):
        tree = repo.write_raw_tree([(b"40000", b"%d" % number, bytes.fromhex(tree)) for number in range(10)])
    return tree


@pytest.mark.parametrize("with_files", [True, False], ids=["files", "empty folders"])
def test_a_few_objects_that_stand_for_billions_of_files_are_refused_by_name(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch, with_files: bool
) -> None:
    monkeypatch.setattr(trees, "MOST_ENTRIES", 10_000)
    bomb = _bomb(repo, with_files=with_files)
    objects = Objects(repo.path, "repo")
    with pytest.raises(SourceError, match=r"repository repo.*more than 10000 entries"):
        list(tree_files(objects, bomb))
    told = changes_since(objects, repo.commit({"a.py": "x"}), bomb)
    assert isinstance(told, NotComparable)
    assert "more than 10000 entries" in told.reason


def test_a_tree_that_is_all_path_is_refused(repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "MOST_PATH_BYTES", 10_000)
    sha = repo.commit({"d/" * 200 + "f.py": "x"})
    with pytest.raises(SourceError, match="paths take more than 10000 bytes"):
        list(tree_files(Objects(repo.path, "repo"), repo.tree_of(sha)))


def test_a_deep_tree_is_compared_like_any_other(repo: RepoBuilder) -> None:
    trees: list[str] = []
    for content in (b"x", b"y"):
        entry = (b"100644", b"f", repo.repository.create_blob(content).raw)
        for _ in range(1100):
            entry = (b"40000", b"d", bytes.fromhex(repo.write_raw_tree([entry])))
        trees.append(repo.write_raw_tree([entry]))
    changes = changes_since(Objects(repo.path, "repo"), trees[0], trees[1])
    assert isinstance(changes, TreeChanges)
    assert changes.files == tuple(tree_files(Objects(repo.path, "repo"), trees[1]))
