"""A disk that fills up: said plainly, nothing half-written, and the next run completes."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehouse_assets.core.settings import load_settings
from lakehouse_assets_tests.support.command import spawn
from lakehouse_assets_tests.support.repos import RepoBuilder

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk"),
]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)], check=True)
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_a_sync_onto_a_full_disk_says_so_and_completes_once_there_is_room(small_disk: Path, tmp_path: Path):
    repo = RepoBuilder(tmp_path / "repo")
    repo.commit({f"random{number}.txt": os.urandom(3000).hex() for number in range(600)})
    settings = load_settings({"LAKEHOUSE_HOME": str(small_disk / "home")})
    assert spawn(settings, "repo", "add", "repo", str(repo.path)).returncode == 0

    full = spawn(settings, "sync", "repo")

    assert full.returncode == 1
    assert "the disk is full" in full.stderr
    assert "Traceback" not in full.stderr
    subprocess.run(["mount", "-o", "remount,size=200m", str(small_disk)], check=True)
    assert spawn(settings, "sync", "repo").returncode == 0
    count = spawn(settings, "sql", "SELECT count(*) AS n, count(DISTINCT blob_sha) AS d FROM blobs", "--json")
    assert '"n": 600' in count.stdout
    assert '"d": 600' in count.stdout
