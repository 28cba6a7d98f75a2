"""Reading what changed gives the rows of a clean read, whatever way the history goes, and reads little for little."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.core.diagnostics import collecting
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.extract.languages import classify
from lakehouse_assets.sources import commits as commits_module
from lakehouse_assets.sources import snapshot as snapshot_module
from lakehouse_assets.sources.commits import parsed_commit, read_new_commits, read_over_stored
from lakehouse_assets.sources.head import resolve_head
from lakehouse_assets.sources.reads import Reading, commits_of, snapshots_table
from lakehouse_assets.sources.snapshot import read_snapshot_changes
from lakehouse_assets.sources.trees import NotComparable
from lakehouse_assets_tests.support.histories import History, Step, steps
from lakehouse_assets_tests.support.repos import RepoBuilder, git, registered

Rows = dict[str, dict[str, Any]]


def _rows(table: pa.Table, key: str) -> Rows:
    rows = {row[key]: row for row in table.to_pylist()}
    assert len(rows) == table.num_rows
    return rows


class Grown:
    """The rows of two tables as updates leave them, kept as the upsert service keeps them."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.commits: Rows = {}
        self.files: Rows = {}
        self.since: str | None = None
        self.whole: list[str] = []
        """What the last update read as a whole."""

    def update(self) -> None:
        repository, path = self.repository, Path(self.repository.location)
        reading = Reading(repository=repository, git_dir=path, head=resolve_head(repository, Path()))
        self.whole = []
        if self.since is None:
            self._whole_commits(reading)
            self._whole_files(reading)
        elif self.since != reading.head.commit_sha:
            new = read_new_commits(path, repository.name, reading.head, self.since, self.stored)
            if isinstance(new, NotComparable):
                self._commits_over_stored(reading)
            else:
                fresh = _rows(new, "commit_sha")
                assert not fresh.keys() & self.commits.keys()
                self.commits |= fresh
            changes = read_snapshot_changes(path, repository, reading.head, self.since)
            if isinstance(changes, NotComparable):
                self._whole_files(reading)
            else:
                rows = _rows(changes.rows, "path")
                assert rows.keys() <= set(changes.paths)
                for changed in changes.paths:
                    self.files.pop(changed, None)
                self.files |= rows
        self.since = reading.head.commit_sha
        assert self.commits == self._clean_commits(reading)
        assert self.files == _rows(snapshots_table([reading]), "path")

    def stored(self, shas: Collection[str]) -> dict[str, int | None]:
        return {sha: self.commits[sha]["first_parent_position"] for sha in shas if sha in self.commits}

    def _commits_over_stored(self, reading: Reading) -> None:
        stored = pa.Table.from_pylist(list(self.commits.values()), schema=arrow_schema(COMMITS.columns))
        found = read_over_stored(reading.git_dir, reading.name, reading.head, stored)
        if isinstance(found, NotComparable):
            self._whole_commits(reading)
        else:
            self.commits = _rows(found, "commit_sha")

    def _whole_commits(self, reading: Reading) -> None:
        self.whole.append("commits")
        self.commits = self._clean_commits(reading)

    def _whole_files(self, reading: Reading) -> None:
        self.whole.append("files")
        self.files = _rows(snapshots_table([reading]), "path")

    def _clean_commits(self, reading: Reading) -> Rows:
        table = pa.Table.from_batches(commits_of([reading]), schema=arrow_schema(COMMITS.columns))
        return _rows(table, "commit_sha")


SETTINGS = st.sampled_from(
    [{}, {}, {"include": ("*.py", "d/")}, {"exclude": ("d/e",)}, {"languages": ("Python",)}, {"languages": ("Go",)}]
)


@given(taken=steps(12), chosen=SETTINGS, looked_up=st.sampled_from([1, 2, 64]))
@hypothesis_settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_history_read_step_by_step_gives_the_rows_of_a_clean_read(
    tmp_path_factory: pytest.TempPathFactory, taken: list[Step], chosen: dict[str, Any], looked_up: int
) -> None:
    history = History(tmp_path_factory.mktemp("r") / "r")
    grown = Grown(registered(history.path, **chosen))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(commits_module, "_LOOKED_UP", looked_up)
        for step in taken:
            history.take(step)
            grown.update()
            assert "files" not in grown.whole or len(history.commits) == 1


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path / "r")


def _grown(repo: RepoBuilder, **chosen: Any) -> Grown:
    grown = Grown(registered(repo.path, **chosen))
    grown.update()
    return grown


def test_a_commit_of_one_file_reads_one_commit_and_classifies_one_file(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit({f"p{number}/m.py": "x = 1\n" for number in range(30)})
    for number in range(30):
        repo.commit({"p1/m.py": f"x = {number}\n"})
    grown = _grown(repo)
    looked_at: list[str] = []

    def noted(path: str, *others: Any) -> Any:
        looked_at.append(path)
        return classify(path, *others)

    repo.commit({"p7/m.py": "x = 2\n"})
    repository = registered(repo.path)
    head = resolve_head(repository, Path())
    monkeypatch.setattr(snapshot_module, "classify", noted)
    with collecting() as told:
        read_snapshot_changes(repo.path, repository, head, str(grown.since))
        read_new_commits(repo.path, "repo", head, str(grown.since), grown.stored)
    assert looked_at == ["p7/m.py"]
    assert {each.message: dict(each.values) for each in told} == {
        "files that differ": {"classified": 1, "gone": 0},
        "new commits": {"read": 1, "rows": 1},
    }


def test_a_merge_of_a_side_line_reads_its_new_commits_only(repo: RepoBuilder) -> None:
    root = repo.commit({"a.py": "1"})
    for number in range(20):
        repo.commit({"a.py": f"{number}"})
    main = repo.commit({"a.py": "main"})
    side = repo.commit({"b.py": "1"}, branch="side", parents=[root])
    side = repo.commit({"b.py": "2"}, branch="side")
    grown = _grown(repo)
    assert grown.since == main
    repo.merge(main, side)
    grown.update()
    assert grown.whole == []
    assert len(grown.commits) == 25
    assert grown.commits[side]["first_parent_position"] is None


@pytest.mark.parametrize("lost", [False, True])
def test_a_force_push_reads_the_new_commits_and_the_files_as_a_whole_if_the_old_commit_is_gone(
    repo: RepoBuilder, lost: bool
) -> None:
    first = repo.commit({"a.py": "1", "b.py": "1"})
    old = repo.commit({"a.py": "2"})
    grown = _grown(repo)
    repo.commit({"b.py": "2"}, parents=[first])
    if lost:
        repo.remove(old)
    grown.update()
    assert grown.whole == (["files"] if lost else [])
    assert old not in grown.commits


def test_a_merge_that_puts_the_old_head_aside_renumbers_the_history(repo: RepoBuilder) -> None:
    root = repo.commit({"a.py": "1"})
    old = repo.commit({"a.py": "2"})
    grown = _grown(repo)
    other = repo.commit({"b.py": "1"}, parents=[root])
    repo.merge(other, old)
    grown.update()
    assert grown.whole == []
    assert grown.commits[old]["first_parent_position"] is None


def test_going_back_and_forth_reads_what_is_not_stored_and_no_more(
    repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [repo.commit({"a.py": f"{number}"}) for number in range(200)]
    grown = _grown(repo)
    read: list[bytes] = []
    monkeypatch.setattr(commits_module, "parsed_commit", lambda data: read.append(data) or parsed_commit(data))
    for place, commits in ((150, 0), (199, 49)):
        repo.repository.references.create("refs/heads/main", made[place], force=True)
        head = resolve_head(grown.repository, Path())
        stored = pa.Table.from_pylist(list(grown.commits.values()), schema=arrow_schema(COMMITS.columns))
        read.clear()
        found = read_over_stored(repo.path, "repo", head, stored)
        assert not isinstance(found, NotComparable)
        assert (found.num_rows, len(read)) == (place + 1, commits)
        grown.commits = _rows(found, "commit_sha")


def test_a_shallow_clone_is_read_as_a_whole_and_so_is_one_that_was(repo: RepoBuilder, tmp_path: Path) -> None:
    for number in range(6):
        repo.commit({"a.py": f"{number}"})
    git(tmp_path, "clone", "-q", "--depth", "2", repo.path.as_uri(), "shallow")
    clone = tmp_path / "shallow"
    shallow = resolve_head(registered(clone), Path())
    grown = Grown(registered(clone))
    grown.update()
    repo.commit({"a.py": "new"})
    git(clone, "pull", "-q", "--ff-only")
    grown.update()
    assert grown.whole == ["commits"]
    moved = resolve_head(registered(clone), Path())
    git(clone, "fetch", "-q", "--unshallow")
    whole = resolve_head(registered(clone), Path())
    assert (moved.commit_sha, bool(moved.boundary), whole.boundary) == (whole.commit_sha, True, "")
    assert moved.boundary == shallow.boundary


def test_a_plain_directory_is_compared_by_its_trees(tmp_path: Path) -> None:
    from lakehouse_assets.sources.mirror import git_directory, refresh

    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    (folder / "b.py").write_text("x = 1\n")
    repository = registered(folder, kind="directory", name="plain")
    refresh(repository, tmp_path / "mirrors")
    old = resolve_head(repository, tmp_path / "mirrors")
    (folder / "b.py").unlink()
    (folder / "c.py").write_text("y = 1\n")
    refresh(repository, tmp_path / "mirrors")
    head = resolve_head(repository, tmp_path / "mirrors")
    git_dir = git_directory(repository, tmp_path / "mirrors")
    changes = read_snapshot_changes(git_dir, repository, head, old.commit_sha)
    assert not isinstance(changes, NotComparable)
    assert (sorted(changes.paths), changes.rows["path"].to_pylist()) == (["b.py", "c.py"], ["c.py"])
    new = read_new_commits(git_dir, "plain", head, old.commit_sha, lambda shas: dict.fromkeys(shas, 0))
    assert isinstance(new, NotComparable)


def test_files_that_the_settings_leave_out_are_neither_read_nor_named(repo: RepoBuilder) -> None:
    repo.commit({"a.py": "1", "docs/a.md": "1"})
    grown = _grown(repo, exclude=("docs/",))
    new = repo.commit({"docs/a.md": "2", "docs/b.md": "1"})
    repo.remove(repo.blob_of(new, "docs/b.md"))
    head = resolve_head(grown.repository, Path())
    changes = read_snapshot_changes(repo.path, grown.repository, head, str(grown.since))
    assert not isinstance(changes, NotComparable)
    assert (changes.paths, changes.rows.num_rows) == ((), 0)


def test_a_file_whose_language_is_no_longer_wanted_loses_its_row(repo: RepoBuilder) -> None:
    repo.commit({"run": "#!/usr/bin/env python3\n", "a.py": "1"})
    grown = _grown(repo, languages=("Python",))
    assert sorted(grown.files) == ["a.py", "run"]
    repo.commit({"run": "#!/bin/sh\n"})
    grown.update()
    assert (sorted(grown.files), grown.whole) == (["a.py"], [])
