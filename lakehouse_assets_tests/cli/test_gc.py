"""`lakehouse gc`: what nobody refers to goes, what somebody may ask for stays."""

import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS
from lakehouse_assets.contracts.maintenance import MAINTENANCE
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.recipes.extractors import extractors
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.synced import SyncedRepo
from lakehouse_assets_tests.support.worlds import rows
from lakehouse_assets_tests.support.writes import write


@pytest.fixture
def shop(lake: Lake, tmp_path: Path) -> SyncedRepo:
    """Three states of one file, each published; only the last is at the head."""
    repo = SyncedRepo(lake, tmp_path / "shop")
    for number in range(3):
        commit = repo.repo.commit({"a.txt": f"text {number}"})
        repo.sync()
        tables = json_text({"snapshots": lake.open(SNAPSHOTS).version()})
        at = datetime(2026, 1, number + 1, tzinfo=UTC)
        told = [{"repo": "shop", "commit_sha": commit, "tables": tables, "published_at": at}]
        write(lake, GRAPH_VERSIONS, rows(GRAPH_VERSIONS, told), partitions=("shop",), owners=(), run_id=f"run {number}")
    lakehouse("repo", "add", "shop", str(repo.repo.path))
    return repo


def texts(lake: Lake) -> list[str]:
    return sorted(lake.read(BLOBS, columns=["text"])["text"].to_pylist())


def test_contents_of_kept_commits_stay(lake: Lake, shop: SyncedRepo):
    assert lakehouse_json("gc") == []
    assert texts(lake) == ["text 0", "text 1", "text 2"]


def test_contents_that_no_kept_commit_has_go(lake: Lake, shop: SyncedRepo, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LAKEHOUSE_KEEP_COMMITS", "1")
    oldest = lakehouse_json("versions", "shop")[-1]["commit"]
    lakehouse("pin", f"shop@{oldest}")
    kept = lakehouse_json("sql", "SELECT text FROM blobs", "--at", f"shop@{oldest}")
    (would,) = lakehouse_json("gc", "--dry-run")
    assert (would["subject"], would["rows"], would["bytes"], len(texts(lake))) == ("blobs", 1, 6, 3)
    assert lakehouse_json("gc") == [would]
    assert len(texts(lake)) == 2
    assert lakehouse_json("sql", "SELECT text FROM blobs", "--at", f"shop@{oldest}") == kept
    (row,) = [row for row in lake.rows(MAINTENANCE) if row["action"] == "gc"]
    assert (row["asset"], row["rows_deleted"]) == ("blobs", 1)
    (row,) = [row for row in lake.rows(WRITES) if row["strategy"] == "delete_matching"]
    assert (row["asset"], row["rows_deleted"], row["partitions"]) == ("blobs", 1, [])
    assert row["statement"].startswith("DeltaTable.merge(")
    assert "0 things" in lakehouse("gc").stderr


def test_extracts_go_with_their_contents_or_when_a_newer_extractor_has_read_them(lake: Lake, shop: SyncedRepo):
    sha = lake.read(SNAPSHOTS, columns=["blob_sha"])["blob_sha"].to_pylist()[0]
    present = extractors()["Python"]
    made = [(sha, present), (sha, "older"), ("gone", present), ("other", "older")]
    told = [{"blob_sha": blob, "language": "Python", "extractor": each, "diagnostics": []} for blob, each in made]
    for row in told:
        row |= {"payload": b"12345"}
    write(lake, EXTRACTS, rows(EXTRACTS, told), partitions={"shop": ()}, cursor="")
    (found,) = lakehouse_json("gc")
    assert (found["subject"], found["rows"], found["bytes"]) == ("extracts", 3, 15)
    assert lake.read(EXTRACTS, columns=["extractor"])["extractor"].to_pylist() == [present]


def test_rows_and_folders_of_removed_repositories_go(lake: Lake, settings: Settings, shop: SyncedRepo):
    lakehouse("repo", "remove", "shop", "--keep-rows")
    for name, age in (("verify-old", 2 * 24 * 3600), ("verify-new", 0)):
        (settings.home / name).mkdir()
        os.utime(settings.home / name, (time.time() - age, time.time() - age))
    (settings.mirrors / "gone.git").mkdir(parents=True)
    (settings.mirrors / "gone.git" / "HEAD").write_text("ref")
    found = lakehouse_json("gc")
    subjects = [each["subject"] for each in found]
    assert {"snapshots of shop", "commits of shop", "graph_versions of shop", "blobs", "gone.git"} <= set(subjects)
    assert ("verify-old" in subjects, "verify-new" in subjects) == (True, False)
    assert lake.read(SNAPSHOTS).num_rows == lake.read(BLOBS).num_rows == 0
    assert not (settings.mirrors / "gone.git").exists()
    assert (settings.home / "verify-new").exists()
