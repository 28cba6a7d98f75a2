"""What commands and the UI say of the engines is what the Delta log says."""

import json
from pathlib import Path

import pytest
from dagster import AssetKey

from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.diagnostics import listening, phase
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import java_was_started, lakehouse, spawn, without_java
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.repos import RepoBuilder


def test_every_write_of_a_sync_without_a_jvm_is_told_as_the_log_tells_it(settings: Settings, tmp_path: Path):
    repo = RepoBuilder(tmp_path / "shop")
    repo.commit({"a.py": "import b\n\ndef f():\n    return b.g()\n", "b.py": "def g():\n    return 1\n"})
    lakehouse("repo", "add", "shop", str(repo.path))
    environ = without_java(tmp_path)
    assert spawn(settings, "sync", "shop", **environ).returncode == 0
    repo.commit({"b.py": "def g():\n    return 2\n"})
    assert spawn(settings, "sync", "shop", **environ, LAKEHOUSE_ENGINE="auto").returncode == 0
    assert lakehouse("env", "create", "dev").exit_code == 0
    assert not java_was_started(tmp_path)

    lake = Lake(settings.lake)
    writes = lake.rows(WRITES)
    assert {"edges", "plans", "environments"} <= {row["asset"] for row in writes}
    asked = "local: the setting `engine` (LAKEHOUSE_ENGINE) asks for it"
    reasons = [row["executor_reason"] for row in writes if row["asset"] == "nodes"]
    assert sorted(reasons) == ["local: 1 changed files, at most 500", asked]
    for row in writes:
        entry = local(lake.root) / row["asset"] / "_delta_log" / f"{row['version_after']:020}.json"
        actions = [json.loads(line) for line in entry.read_text().split("\n") if line]
        (info,) = [action["commitInfo"] for action in actions if "commitInfo" in action]
        assert (row["executor"], row["engine"]) == ("delta-rs", info["engineInfo"]), row["asset"]
        assert info["engineInfo"].startswith("delta-rs"), row["asset"]
        assert row["files_added"] == sum("add" in action for action in actions)

    from lakehouse_assets.definitions import defs

    graph = defs.resolve_asset_graph()
    for name in {row["asset"] for row in writes}:
        key = AssetKey(name)
        kinds = graph.get(key).kinds if graph.has(key) else set()
        assert "spark" not in kinds or kinds & {"git", "python", "duckdb"}, name


def test_progress_says_start_spark_for_the_start_alone(capfd: pytest.CaptureFixture[str]):
    with listening(Progress().on_diagnostic):
        with phase("spark", "in-process", "session start"):
            pass
        for name in ("compare", "merge", "contents"):
            with phase("spark", "edges", name):
                pass
    assert capfd.readouterr().err.count("start Spark") == 1
