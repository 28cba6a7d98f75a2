"""Files that appear whole or not at all."""

from pathlib import Path

import pytest

from lakehouse_assets.lake.exports.atomic import atomic_file


def test_a_file_is_there_when_the_scope_ends_and_not_before(tmp_path: Path):
    with atomic_file(tmp_path / "a") as out:
        out.write(b"new")
        assert not (tmp_path / "a").exists()
    assert (tmp_path / "a").read_bytes() == b"new"


def test_what_fails_leaves_the_old_file_as_it_was(tmp_path: Path):
    (tmp_path / "a").write_text("old")

    def fail() -> None:
        with atomic_file(tmp_path / "a") as out:
            out.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a", "old")]
