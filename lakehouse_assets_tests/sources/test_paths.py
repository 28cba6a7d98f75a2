"""Every path has one text, every text at most one path."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.sources.paths import raw_path, stored_path
from lakehouse_assets_tests.support.repos import RepoBuilder, git

RAW_PATHS = st.binary(max_size=40).map(lambda raw: raw.replace(b"\x00", b""))


@given(RAW_PATHS)
@example(b'"')
@example(b'"a"')
@example(b'\\"\xff')
@example(b'"\\351"')
@example(b"\xed\xa0\x80")
def test_the_way_back_is_exact(raw: bytes) -> None:
    stored = stored_path(raw)
    assert raw_path(stored) == raw
    assert stored.encode().decode() == stored


@given(RAW_PATHS, RAW_PATHS)
def test_two_paths_never_become_one(one: bytes, other: bytes) -> None:
    assert (stored_path(one) == stored_path(other)) == (one == other)


@given(st.text(max_size=20))
def test_a_text_is_either_refused_or_stored_by_exactly_one_path(text: str) -> None:
    try:
        raw = raw_path(text)
    except BadInputError:
        return
    assert stored_path(raw) == text


@pytest.mark.parametrize(
    "path", ["a b.py", "it's.py", 'say "hi".py', "line\nbreak.py", "100%=.py", "naïve/☃.py", "a\\b"]
)
def test_utf8_is_kept_as_it_is(path: str) -> None:
    assert stored_path(path.encode()) == path


def test_what_is_quoted_is_quoted_as_git_does_it(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    names = [
        b"caf\xe9.txt",
        b'"quoted".py',
        b"tab\there\xff",
        b"back\\slash\xff",
        b'in"side\xff',
        b"\x01\x7f\xff",
        b"\r\n\xff",
    ]
    repo.commit(dict.fromkeys(names, "x"))
    assert sorted(map(stored_path, names)) == sorted(
        git(repo.path, "ls-tree", "--name-only", "HEAD").decode().split("\n")[:-1]
    )


@pytest.mark.parametrize("text", ['"', '"abc', '"abc"', '"\\q"', '"\\400"', '"caf\\351" ', "\udce9", '"é"'])
def test_text_that_no_path_is_stored_as_is_refused(text: str) -> None:
    with pytest.raises(BadInputError):
        raw_path(text)


def test_the_quoting_is_readable_by_git_itself(tmp_path: Path) -> None:
    repo = RepoBuilder(tmp_path / "r")
    raw = b"caf\xe9\n.txt"
    sha = repo.blob_of(repo.commit({"a": "x"}), "a")
    entry = f"100644 {sha}\t{stored_path(raw)}\n".encode()
    subprocess.run(["git", "-C", repo.path, "update-index", "--index-info"], input=entry, check=True)
    assert git(repo.path, "ls-files", "-z") == raw + b"\x00"
