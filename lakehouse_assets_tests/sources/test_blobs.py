"""A content is text with its encoding, or no text with the reason."""

from pathlib import Path

import pyarrow as pa
import pytest

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.core.errors import SourceError
from lakehouse_assets.sources import blobs
from lakehouse_assets.sources.blobs import read_blobs
from lakehouse_assets_tests.support.repos import RepoBuilder


@pytest.fixture
def repo(tmp_path: Path) -> RepoBuilder:
    return RepoBuilder(tmp_path / "r", bare=True)


def _stored(repo: RepoBuilder, *contents: bytes) -> list[str]:
    return [str(repo.repository.create_blob(content)) for content in contents]


def _rows(repo: RepoBuilder, shas: list[str], **options: int) -> list[tuple]:
    table = pa.Table.from_batches(read_blobs(repo.path, "repo", shas, **options), schema=arrow_schema(BLOBS.columns))
    return [tuple(row.values()) for row in table.to_pylist()]


def test_text_comes_with_the_encoding_it_was_read_with(repo: RepoBuilder) -> None:
    utf8, latin, wide, empty = _stored(repo, "é".encode(), b"caf\xe9", "é".encode("utf-16"), b"")
    assert _rows(repo, [utf8, latin, wide, empty]) == [
        (utf8, 2, "utf-8", "é", None),
        (latin, 4, "latin-1", "café", None),
        (wide, 4, "utf-16", "é", None),
        (empty, 0, "utf-8", "", None),
    ]


def test_binary_content_has_no_text_and_says_why(repo: RepoBuilder) -> None:
    (sha,) = _stored(repo, b"\x89PNG\x00")
    assert _rows(repo, [sha]) == [(sha, 5, None, None, "binary")]


def test_what_is_too_large_is_not_even_read(repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    within, beyond = _stored(repo, b"x" * 100, b"x" * 101)
    read: list[str] = []
    original = blobs.Objects.read
    monkeypatch.setattr(blobs.Objects, "read", lambda self, sha, kind: read.append(sha) or original(self, sha, kind))
    rows = _rows(repo, [within, beyond], max_bytes=100)
    assert rows == [(within, 100, "utf-8", "x" * 100, None), (beyond, 101, None, None, "too_large")]
    assert read == [within]


def test_an_id_asked_for_twice_gives_one_row(repo: RepoBuilder) -> None:
    (sha,) = _stored(repo, b"x")
    assert len(_rows(repo, [sha, sha])) == 1


def test_no_ids_give_no_batch(repo: RepoBuilder) -> None:
    assert list(read_blobs(repo.path, "repo", [])) == []


def test_batches_are_bounded_by_bytes_and_by_rows(repo: RepoBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    shas = _stored(repo, *(b"%d" % number * 10 for number in range(6)))
    monkeypatch.setattr(blobs, "BYTES_PER_BATCH", 15)
    assert [batch.num_rows for batch in read_blobs(repo.path, "repo", shas)] == [2, 2, 2]
    monkeypatch.setattr(blobs, "BYTES_PER_BATCH", 10**6)
    monkeypatch.setattr(blobs, "ROWS_PER_BATCH", 4)
    assert [batch.num_rows for batch in read_blobs(repo.path, "repo", shas)] == [4, 2]


@pytest.mark.parametrize("damage", [RepoBuilder.corrupt, RepoBuilder.remove])
def test_a_damaged_or_missing_content_is_named_with_the_remedy(repo: RepoBuilder, damage) -> None:
    fine, hurt = _stored(repo, b"fine", b"hurt")
    damage(repo, hurt)
    with pytest.raises(SourceError, match=f"repository repo: blob {hurt} cannot be read") as failed:
        _rows(repo, [fine, hurt])
    assert "git fsck" in failed.value.remedy


def test_content_that_does_not_match_its_id_is_not_taken(repo: RepoBuilder) -> None:
    sha, other = _stored(repo, b"one", b"two")
    objects = repo.path / "objects"
    place = objects / sha[:2] / sha[2:]
    place.chmod(0o644)
    place.write_bytes((objects / other[:2] / other[2:]).read_bytes())
    with pytest.raises(SourceError, match="hash mismatch"):
        _rows(repo, [sha])


@pytest.mark.parametrize("sha", ["", "zz", "main", "0" * 40])
def test_what_is_no_id_of_a_content_is_refused(repo: RepoBuilder, sha: str) -> None:
    with pytest.raises(SourceError, match=f"blob {sha}"):
        _rows(repo, [sha])


def test_an_id_of_something_else_is_refused(repo: RepoBuilder) -> None:
    commit = repo.commit({"a": "1"})
    with pytest.raises(SourceError, match="it is a commit"):
        _rows(repo, [commit])
