"""A plain directory is one commit: its tree, by the hash that git would give it."""

import os
import socket
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest

from lakehouse_assets.core.diagnostics import collecting
from lakehouse_assets.core.errors import BadInputError, SourceError
from lakehouse_assets.sources import directory
from lakehouse_assets.sources.commits import read_commits
from lakehouse_assets.sources.head import Head, resolve_head
from lakehouse_assets.sources.mirror import git_directory, refresh
from lakehouse_assets.sources.snapshot import read_snapshot
from lakehouse_assets_tests.support.repos import git, registered


@pytest.fixture
def mirrors(tmp_path: Path) -> Path:
    return tmp_path / "home" / "git"


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """Files of every kind, with names of every kind."""
    root = tmp_path / "plain"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "empty" / "nested").mkdir(parents=True)
    (root / "a.py").write_text("x = 1\n")
    (root / "sub.py").write_text("sorts between sub/ and sub\n")
    (root / "sub" / "with space %=.txt").write_bytes(b"crlf\r\n")
    (root / "sub" / "deep" / "run.sh").write_text("#!/bin/sh\n")
    (root / "sub" / "deep" / "run.sh").chmod(0o755)
    (root / "sub" / "line\nbreak").write_text("")
    (root / "out").symlink_to("/etc/passwd")
    (root / "loop").symlink_to(".")
    with open(os.path.join(os.fsencode(root), b"caf\xe9.txt"), "wb") as file:  # noqa: PTH118, PTH123 - bytes
        file.write(b"\xff")
    return root


def _taken(path: Path, mirrors: Path, *, skip: Path | None = None) -> Head:
    repository = registered(path, kind="directory")
    refresh(repository, mirrors, skip=skip)
    return resolve_head(repository, mirrors)


def _paths(path: Path, mirrors: Path) -> list[str]:
    repository = registered(path, kind="directory")
    head = resolve_head(repository, mirrors)
    batches = read_snapshot(git_directory(repository, mirrors), repository, head)
    return pa.Table.from_batches(batches)["path"].to_pylist()


def _write_tree(path: Path, git_dir: Path) -> str:
    """The tree's hash by git's own way, with an index; no directory of git's is left in `path`."""
    place = (f"--git-dir={git_dir}", f"--work-tree={path}", "-c", "core.autocrlf=false")
    git(path, *place, "init", "-q")
    git(path, *place, "add", "--all", "--force")
    return git(path, *place, "write-tree").decode().strip()


def test_the_commit_is_the_hash_that_write_tree_gives(plain: Path, mirrors: Path, tmp_path: Path) -> None:
    tree = _write_tree(plain, tmp_path / "index.git")
    assert _taken(plain, mirrors) == Head(commit_sha=tree, tree_sha=tree, ref="directory")


def test_the_commit_changes_exactly_when_a_file_does(plain: Path, mirrors: Path) -> None:
    before = _taken(plain, mirrors)
    (plain / "a.py").touch()
    (plain / "another-empty-one").mkdir()
    assert _taken(plain, mirrors) == before
    (plain / "a.py").write_text("x = 2\n")
    changed = _taken(plain, mirrors)
    assert changed != before
    (plain / "a.py").chmod(0o755)
    assert _taken(plain, mirrors) not in (before, changed)
    (plain / "a.py").chmod(0o644)
    (plain / "a.py").write_text("x = 1\n")
    assert _taken(plain, mirrors) == before


def test_it_is_one_row_of_commits_without_people_times_or_parents(plain: Path, mirrors: Path) -> None:
    head = _taken(plain, mirrors)
    (row,) = pa.Table.from_batches(read_commits(mirrors / "repo.git", "repo", head)).to_pylist()
    assert row == {
        "repo": "repo", "commit_sha": head.tree_sha, "tree_sha": head.tree_sha, "parents": [],
        "first_parent_position": 0,
        "author_name": "", "author_email": "", "authored_at": None,
        "committer_name": "", "committer_email": "", "committed_at": None, "subject": "",
    }  # fmt: skip


def test_links_are_stored_as_links_and_never_followed(plain: Path, mirrors: Path) -> None:
    head = _taken(plain, mirrors)
    shown = git(mirrors / "repo.git", "ls-tree", head.tree_sha).decode()
    assert [line.split()[0] for line in shown.splitlines() if line.endswith(("out", "loop"))] == ["120000", "120000"]
    assert git(mirrors / "repo.git", "cat-file", "-p", f"{head.tree_sha}:out") == b"/etc/passwd"


def test_git_directories_inside_are_left_out(plain: Path, mirrors: Path) -> None:
    before = _taken(plain, mirrors)
    git(plain / "sub", "init", "-q")
    (plain / "empty" / ".git").write_text("gitdir: elsewhere\n")
    assert _taken(plain, mirrors) == before


def test_the_lakehouses_home_inside_is_left_out(plain: Path) -> None:
    home = plain / ".lakehouse"
    first = _taken(plain, home / "git", skip=home)
    (home / "lake").mkdir()
    (home / "lake" / "table").write_text("x")
    assert _taken(plain, home / "git", skip=home) == first
    assert not [path for path in _paths(plain, home / "git") if path.startswith(".lakehouse")]


def test_what_is_neither_file_link_nor_directory_is_left_out_with_a_warning(
    plain: Path, mirrors: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _taken(plain, mirrors)
    os.mkfifo(plain / "pipe")
    monkeypatch.chdir(plain)  # the address of a socket has to be short
    with socket.socket(socket.AF_UNIX) as listening, collecting() as said:
        listening.bind("sock")
        assert _taken(plain, mirrors) == before
    warned = [str(diagnostic.values["path"]) for diagnostic in said if diagnostic.level == "warning"]
    assert sorted(warned) == [str(plain / "pipe"), str(plain / "sock")]


def test_a_file_that_cannot_be_read_is_named(plain: Path, mirrors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:  # root may read everything, so the refusal is made
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(directory, "_store_file", refused)
    with pytest.raises(SourceError, match="Permission denied") as failed:
        _taken(plain, mirrors)
    assert str(plain) in failed.value.seen


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_the_right_to_read_it_is_named(plain: Path, mirrors: Path) -> None:
    (plain / "a.py").chmod(0)
    with pytest.raises(SourceError, match=r"a\.py cannot be read"):
        _taken(plain, mirrors)


def test_a_directory_without_files_is_refused(tmp_path: Path, mirrors: Path) -> None:
    (tmp_path / "none" / "inner").mkdir(parents=True)
    with pytest.raises(SourceError, match="has no files"):
        _taken(tmp_path / "none", mirrors)


def test_a_directory_that_went_away_is_an_error_of_the_source(tmp_path: Path, mirrors: Path) -> None:
    with pytest.raises(SourceError, match="gone cannot be read"):
        _taken(tmp_path / "gone", mirrors)


def test_it_has_no_history_but_states_once_taken_can_be_read_to_their_end(plain: Path, mirrors: Path) -> None:
    first = _taken(plain, mirrors)
    (plain / "a.py").write_text("x = 2\n")
    _taken(plain, mirrors)
    repository = registered(plain, kind="directory")
    assert resolve_head(repository, mirrors, first.commit_sha) == first
    inner = git(mirrors / "repo.git", "rev-parse", f"{first.tree_sha}:sub").decode().strip()
    for other in ("main", "0" * 40, inner):
        with pytest.raises(BadInputError, match="plain directory"):
            resolve_head(repository, mirrors, other)


def test_an_interrupted_refresh_leaves_the_state_before_it(
    plain: Path, mirrors: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _taken(plain, mirrors)
    (plain / "a.py").write_text("x = 2\n")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(directory, "_store_file", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _taken(plain, mirrors)
    assert resolve_head(registered(plain, kind="directory"), mirrors) == before


def test_a_deep_directory_is_no_deeper_than_others(tmp_path: Path, mirrors: Path) -> None:
    deep = f"{tmp_path}/plain"
    for _ in range(1101):
        os.mkdir(deep)  # noqa: PTH102 - pathlib's own way is recursive
        deep += "/d"
    Path(deep.removesuffix("d") + "f").write_text("x")
    try:
        _taken(tmp_path / "plain", mirrors)
    finally:  # pytest's own cleaning up is recursive
        subprocess.run(["rm", "-rf", tmp_path / "plain"], check=True)
    assert _paths(tmp_path / "plain", mirrors) == ["d/" * 1100 + "f"]
