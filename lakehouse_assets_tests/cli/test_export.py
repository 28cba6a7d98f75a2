"""`lakehouse export`, as a user runs it."""

import json
from pathlib import Path

import pytest

from lakehouse_assets.core.errors import BadInputError, LakeStateError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import java_was_started, lakehouse, lakehouse_json, spawn, without_java
from lakehouse_assets_tests.support.repos import RepoBuilder
from lakehouse_assets_tests.support.sample_graph import save_samples


@pytest.fixture
def repositories(settings: Settings, lake: Lake, tmp_path: Path) -> None:
    RepoBuilder(tmp_path / "repo").commit({"a.py": "1"})
    for name in ("r", "u", "unmade"):
        lakehouse("repo", "add", name, str(tmp_path / "repo"))
    save_samples(lake)


@pytest.mark.usefixtures("repositories")
def test_every_format_is_written_without_a_jvm(settings: Settings, tmp_path: Path):
    done = spawn(settings, "export", "scip", "r", "-o", str(tmp_path / "r.scip"), "--json", **without_java(tmp_path))
    assert json.loads(done.stdout)["documents"] == 2
    assert lakehouse_json("export", "graphml", "r", "-o", str(tmp_path / "r.graphml"))["nodes"] > 50
    assert lakehouse_json("export", "neo4j-csv", "r", "-o", str(tmp_path / "neo"))["edges"] > 50
    calls = lakehouse_json("export", "callgraph", "--all", "-o", str(tmp_path / "calls"))
    assert calls["callgraphs"]["r"] == {"callers": 8, "calls": 6}
    written = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.glob("*/*.[jc]s*"))
    assert written == ["calls/r.json", "calls/u.json", "calls/unmade.json", "neo/nodes.csv", "neo/relationships.csv"]
    assert not java_was_started(tmp_path)


@pytest.mark.usefixtures("repositories")
def test_an_export_says_in_a_line_what_it_wrote(tmp_path: Path):
    told = lakehouse("export", "callgraph", "r", "-o", str(tmp_path / "r.json")).stdout
    assert told == f"{tmp_path / 'r.json'}: 1 callgraphs, 6 calls\n"
    assert json.loads((tmp_path / "r.json").read_text())["app.main"] == ["app.App.run"]
    told = lakehouse("export", "scip", "r", "-o", str(tmp_path / "r.scip")).stdout
    assert "r.scip: 2 documents, " in told
    checked = lakehouse_json("scip", "check", str(tmp_path / "r.scip"))
    assert checked == {"documents": 2, "rules_broken": {}}


@pytest.mark.usefixtures("repositories")
def test_what_cannot_be_exported_is_refused(tmp_path: Path):
    with pytest.raises(BadInputError, match="no repository of that name"):
        lakehouse("export", "scip", "nobody", "-o", str(tmp_path / "x"))
    with pytest.raises(LakeStateError, match="lakehouse sync unmade"):
        lakehouse("export", "graphml", "unmade", "-o", str(tmp_path / "x"))
    assert lakehouse("export", "callgraph", "r", "--all", "-o", str(tmp_path / "x")).exit_code == 2
    assert lakehouse("export", "callgraph", "-o", str(tmp_path / "x")).exit_code == 2
    assert not (tmp_path / "x").exists()
