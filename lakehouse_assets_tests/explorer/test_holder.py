"""Which index answers: the newest follows publications by itself."""

import time
from pathlib import Path

import pytest

from lakehouse_assets.core.settings import Settings
from lakehouse_assets.explorer.answers import Answers
from lakehouse_assets.explorer.holder import Indexes
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import lakehouse
from lakehouse_assets_tests.support.repos import RepoBuilder


def test_an_empty_lake_has_nothing_to_find(lake: Lake):
    assert Answers(Indexes(lake)).search("anything")["total"] == 0


def test_a_publication_is_followed_while_the_old_index_answers(
    settings: Settings, lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    monkeypatch.setattr("lakehouse_assets.explorer.holder._LOOK_SECONDS", 0.0)
    repo = RepoBuilder(tmp_path / "one")
    repo.commit({"a.py": "def first():\n    pass\n"})
    lakehouse("repo", "add", "one", str(repo.path))
    lakehouse("sync", "one")
    answers = Answers(Indexes(lake))
    assert answers.search("first")["total"] == 1
    repo.commit({"a.py": "def second():\n    pass\n"})
    lakehouse("sync", "one")
    deadline = time.monotonic() + 30
    while answers.search("second")["total"] == 0:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert answers.search("first")["total"] == 0
