"""The history in `commits` is the one that git tells."""

import datetime as dt
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.core.errors import SourceError
from lakehouse_assets.sources import commits
from lakehouse_assets.sources.commits import read_commits
from lakehouse_assets.sources.head import resolve_head
from lakehouse_assets_tests.support.repos import FIRST_COMMIT_AT, RepoBuilder, git, registered


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path / "r")


def _commits(path: Path) -> pa.Table:
    head = resolve_head(registered(path), path)
    return pa.Table.from_batches(read_commits(path, "repo", head), schema=arrow_schema(COMMITS.columns))


def _only(path: Path) -> dict:
    (row,) = _commits(path).to_pylist()
    return row


def _branchy(repo: RepoBuilder) -> dict[str, str]:
    """One history with a side line, a merge of two roots, and a merge of what is on the line already.

    root ── a ── merge ── octopus ── again ── tip        positions 0 1 2 3 4 5
      └──── side ──┘        │          │
    other ──────────────────┘          │
    a ─────────────────────────────────┘
    """
    made = {"root": repo.commit({"f": "1"})}
    made["a"] = repo.commit({"f": "2"})
    made["side"] = repo.commit({"g": "1"}, branch="side", parents=[made["root"]])
    made["other"] = repo.commit({"o": "1"}, branch="other", parents=[])
    made["merge"] = repo.merge(made["a"], made["side"])
    made["octopus"] = repo.merge(made["merge"], made["side"], made["other"])
    made["again"] = repo.merge(made["octopus"], made["a"])
    made["tip"] = repo.commit({"f": "3"})
    repo.commit({"x": "1"}, branch="unmerged", parents=[made["root"]])
    return made


def test_every_reachable_commit_is_one_row_as_git_counts_them(repo: RepoBuilder) -> None:
    made = _branchy(repo)
    shas = _commits(repo.path)["commit_sha"].to_pylist()
    assert sorted(shas) == sorted(made.values())
    assert sorted(shas) == sorted(git(repo.path, "rev-list", "HEAD").decode().split())


def test_positions_count_from_the_root_along_first_parents_and_are_null_elsewhere(repo: RepoBuilder) -> None:
    made = _branchy(repo)
    table = _commits(repo.path)
    positions = dict(zip(table["commit_sha"].to_pylist(), table["first_parent_position"].to_pylist(), strict=True))
    assert {name: positions[sha] for name, sha in made.items()} == {
        "root": 0, "a": 1, "merge": 2, "octopus": 3, "again": 4, "tip": 5, "side": None, "other": None,
    }  # fmt: skip


def test_batches_are_bounded_and_positions_run_through_them(repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    made = _branchy(repo)
    monkeypatch.setattr(commits, "ROWS_PER_BATCH", 2)
    head = resolve_head(registered(repo.path), repo.path)
    batches = list(read_commits(repo.path, "repo", head))
    assert [batch.num_rows for batch in batches] == [2, 2, 2, 2]
    assert pa.Table.from_batches(batches)["first_parent_position"].to_pylist() == [5, 4, 3, 2, 1, 0, None, None]
    assert len(made) == 8


def test_rows_tell_what_git_log_tells(repo: RepoBuilder) -> None:
    _branchy(repo)
    format_ = "%H%x1f%T%x1f%P%x1f%an%x1f%ae%x1f%at%x1f%cn%x1f%ce%x1f%ct%x1f%s"
    expected = sorted(git(repo.path, "log", f"--format={format_}").decode().splitlines())

    def seconds(time: dt.datetime) -> int:
        return int(time.timestamp())

    told = [
        "\x1f".join(
            str(value)
            for value in (
                row["commit_sha"], row["tree_sha"], " ".join(row["parents"]),
                row["author_name"], row["author_email"], seconds(row["authored_at"]),
                row["committer_name"], row["committer_email"], seconds(row["committed_at"]), row["subject"],
            )
        )
        for row in _commits(repo.path).to_pylist()
    ]  # fmt: skip
    assert sorted(told) == expected


def test_a_shallow_clone_ends_at_its_boundary(repo: RepoBuilder, tmp_path: Path) -> None:
    made = _branchy(repo)
    git(tmp_path, "clone", "-q", "--depth", "2", repo.path.as_uri(), "shallow")
    table = _commits(tmp_path / "shallow")
    assert sorted(table["commit_sha"].to_pylist()) == sorted(
        git(tmp_path / "shallow", "rev-list", "HEAD").decode().split()
    )
    rows = {row["commit_sha"]: row for row in table.to_pylist()}
    assert (rows[made["again"]]["parents"], rows[made["again"]]["first_parent_position"]) == ([], 0)
    git(tmp_path / "shallow", "worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    assert _commits(tmp_path / "linked").num_rows == table.num_rows


def test_times_are_utc(repo: RepoBuilder) -> None:
    repo.commit({"a": "1"})
    assert _only(repo.path)["authored_at"] == dt.datetime.fromtimestamp(FIRST_COMMIT_AT, dt.UTC)


@pytest.mark.parametrize("time", [253_402_300_800, 2**63, 10**30, b"soon", b"-1", b"\xb2"])
def test_a_time_that_is_no_date_is_null(repo: RepoBuilder, time: int | bytes) -> None:
    repo.commit({"a": "1"}, time=time)
    row = _only(repo.path)
    assert (row["authored_at"], row["committed_at"]) == (None, None)


def test_the_first_and_the_last_second_are_dates(repo: RepoBuilder) -> None:
    repo.commit({"a": "1"}, time=0)
    repo.commit({"a": "2"}, time=253_402_300_799)
    assert [time.year for time in _commits(repo.path)["committed_at"].to_pylist()] == [9999, 1970]


@pytest.mark.parametrize(
    ("declared", "raw", "text"),
    [
        (None, "Žofie".encode(), "Žofie"),
        (None, b"Andr\xe9", "André"),
        (b"ISO-8859-2", "Žofie".encode("iso-8859-2"), "Žofie"),
        (b"no-such-codec", "Žofie".encode(), "Žofie"),
        (b"rot13", b"Ann", "Ann"),
        (b"zlib", b"Ann", "Ann"),
        (b"utf-7", b"+2AA-", "+2AA-"),
        (b"ascii", b"Andr\xe9", "André"),
        (b"\xff\x00", b"Ann", "Ann"),
    ],
)
def test_text_is_decoded_as_declared_else_as_utf8_else_byte_by_byte(
    repo: RepoBuilder, declared: bytes | None, raw: bytes, text: str
) -> None:
    repo.commit({"a": "1"}, author=raw + b" <x@y>", message=raw, encoding=declared)
    row = _only(repo.path)
    assert (row["author_name"], row["committer_email"], row["subject"]) == (text, "x@y", text)


@pytest.mark.parametrize("author", [b"", b"Ann", b"Ann <", b"<x@y>", b"Ann <x@y> <z>", b"  Ann   < x@y >"])
def test_a_broken_author_line_still_gives_a_row(repo: RepoBuilder, author: bytes) -> None:
    repo.commit({"a": "1"}, author=author)
    row = _only(repo.path)
    assert isinstance(row["author_name"], str)
    assert isinstance(row["author_email"], str)


def test_subjects_are_those_of_git_log(repo: RepoBuilder) -> None:
    messages = [
        b"one line", b"", b"\n\n  led by blanks\n", b"two\nlines\n\nbody", b"trailing  \t\r\nnext\r\n\r\nbody",
        b" \n\t\n late", b"\x0bvertical\n\x0c\nrest", b"tab\tinside\n  indented\n", b"no end\n\n\nx",
        "naïve ☃".encode(),
    ]  # fmt: skip
    for message in messages:
        repo.commit({"a": "1"}, message=message)
    expected = git(repo.path, "log", "--first-parent", "-z", "--format=%s").decode().split("\x00")
    assert _commits(repo.path)["subject"].to_pylist() == expected[: len(messages)]


@given(st.binary(max_size=200))
def test_any_message_has_a_subject_on_one_line(message: bytes) -> None:
    assert b"\n" not in commits.subject(message)


def test_a_commit_that_is_all_subject_is_cut_off(repo: RepoBuilder) -> None:
    long = 5_000_000
    repo.commit({"a.py": "x"}, message="\u00e4\n" * long, author=b"n" * long + b" <" + b"a" * long + b">")
    tracemalloc.start()
    row = _only(repo.path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert row["subject"] == "\u00e4 " * 5_000 + "…"
    assert row["author_name"] == "n" * 10_000 + "…"
    assert row["author_email"] == "a" * 10_000 + "…"
    assert peak < 20 * long, "a few copies of the object, and nothing for each of its lines"


def test_a_commit_with_signature_headers_is_read_like_any_other(repo: RepoBuilder) -> None:
    parent = repo.commit({"a": "1"})
    body = (
        f"tree {repo.tree_of(parent)}\nparent {parent}\nauthor A <a@b> 1 +0000\ncommitter C <c@d> 2 +0000\n"
        "gpgsig -----BEGIN-----\n encoding rot13\n parent 0000\n -----END-----\n\nsigned\n"
    )
    sha = git(repo.path, "hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=body.encode())
    repo.repository.references.create("refs/heads/main", sha.decode().strip(), force=True)
    row = _commits(repo.path).to_pylist()[0]
    assert (row["parents"], row["author_name"], row["committer_name"], row["subject"]) == ([parent], "A", "C", "signed")


@pytest.mark.parametrize("damage", [RepoBuilder.corrupt, RepoBuilder.remove])
def test_a_damaged_commit_in_the_history_stops_the_reading_by_name(repo: RepoBuilder, damage) -> None:
    first = repo.commit({"a": "1"})
    repo.commit({"a": "2"})
    damage(repo, first)
    with pytest.raises(SourceError, match=first) as failed:
        _commits(repo.path)
    assert failed.value.subject == "repository repo"
    assert "git fsck" in failed.value.remedy
