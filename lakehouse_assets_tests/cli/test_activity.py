"""`lakehouse activity` on a real lake."""

import json
from pathlib import Path

import pytest

from lakehouse_assets.core.settings import Settings
from lakehouse_assets_tests.support.command import lakehouse
from lakehouse_assets_tests.support.repos import RepoBuilder

pytestmark = pytest.mark.slow


def test_months_are_told_made_and_then_fresh(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    repo = RepoBuilder(tmp_path / "one")
    repo.commit({"a.py": "x = 1\n"}, time=1_700_000_000)
    repo.commit({"a.py": "x = 2\n"}, time=1_710_000_000)
    lakehouse("repo", "add", "one", str(repo.path))
    lakehouse("sync", "one")
    told = lakehouse("activity", "--dry-run").output.splitlines()
    assert [line[:14] for line in told] == ["2023-11  stale", "2024-03  stale"]
    assert list(json.loads(lakehouse("activity", "--json").stdout)["months"]) == ["2023-11-01", "2024-03-01"]
    assert "every month is fresh" in lakehouse("activity").output
    rows = json.loads(lakehouse("sql", "SELECT sum(commits) AS n FROM churn", "--json").stdout)
    assert rows == [{"n": 2}]
