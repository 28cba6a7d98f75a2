"""A project of its own for each test."""

from pathlib import Path

import pytest

from lakehouse_assets_tests.gauntlet.journey import Journey, begin


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Journey:
    return begin(tmp_path / "project", monkeypatch)
