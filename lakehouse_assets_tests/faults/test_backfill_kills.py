"""`lakehouse backfill` is killed between its batches and begun again: it goes on with what is still stale."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from lakehouse_assets.contracts.edges import EDGES
from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import LAKEHOUSE, lakehouse, lakehouse_json
from lakehouse_assets_tests.support.repos import RepoBuilder

pytestmark = pytest.mark.slow

NAMES = [f"r{number}" for number in range(6)]
BATCH = ("backfill", "--all", "--batch", "2")
_SECONDS = 120


@pytest.fixture
def repos(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> list[RepoBuilder]:
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    made = [RepoBuilder(tmp_path / name) for name in NAMES]
    for repo in made:
        repo.commit({f"{number}.py": f"def f{number}():\n    return {number}\n" for number in range(20)})
        lakehouse("repo", "add", repo.path.name, str(repo.path))
    return made


def published(lake: Lake) -> set[str]:
    return set(lake.read(GRAPH_VERSIONS, columns=["repo"])["repo"].to_pylist())


def test_a_killed_backfill_goes_on_where_it_was_with_one_commit_a_table_for_each_batch(
    repos: list[RepoBuilder], settings: Settings, lake: Lake
):
    env = os.environ | {"LAKEHOUSE_HOME": str(settings.home)}
    words = [str(LAKEHOUSE), *BATCH]
    with subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as command:
        deadline = time.monotonic() + _SECONDS
        while not published(lake):
            assert time.monotonic() < deadline, "the first batch did not end"
            time.sleep(0.05)
        command.kill()
    done = published(lake)
    assert done == {"r0", "r1"}, "the command was quicker than the test: let it have more to do"
    before = lake.open(EDGES).version()

    result = lakehouse_json(*BATCH)

    assert result["errors"] == []
    assert {name for run in result["runs"] for name in run["repositories"]} >= set(NAMES) - done
    assert lake.open(EDGES).version() == before + 2
    assert all(each["fresh"] for each in lakehouse_json("status")["repositories"])
    assert lakehouse_json(*BATCH)["runs"] == []
    for name in ("r0", "r3"):
        assert lakehouse("verify", name).exit_code == 0
