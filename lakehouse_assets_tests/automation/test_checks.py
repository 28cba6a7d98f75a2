"""Asset checks look at what a run wrote, name the rows that are wrong, and hold back only the repository that is."""

from pathlib import Path
from typing import Any

import pytest
from deltalake import write_deltalake

from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.contracts.edges import EDGES
from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.integrity import RULES, broken, written_by
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.repos import RepoBuilder


@pytest.fixture
def synced(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> tuple[RepoBuilder, RepoBuilder]:
    monkeypatch.setenv("LAKEHOUSE_EXECUTOR", "delta-rs")
    one, two = RepoBuilder(tmp_path / "one"), RepoBuilder(tmp_path / "two")
    one.commit({"a.py": "def f():\n    return g()\n\ndef g(): ...\n", "b.py": "import a\n\nx = a.f()\n"})
    two.commit({"c.py": "y = 1\n"})
    for name, repo in (("one", one), ("two", two)):
        lakehouse("repo", "add", name, str(repo.path))
    lakehouse("sync", "--all")
    return one, two


def found(lake: Lake, name: str) -> dict[str, list[dict[str, Any]]]:
    whole = {"one": None, "two": None}
    return {
        rule.contract.name: rows
        for rule in RULES
        if rule.name == name and (rows := broken(lake, rule, whole, run_id=f"by hand {lake.open(NODES).version()}"))
    }


@pytest.mark.usefixtures("synced")
def test_a_lake_as_runs_leave_it_breaks_no_rule(lake: Lake):
    for rule in RULES:
        assert found(lake, rule.name) == {}


@pytest.mark.usefixtures("synced")
def test_rows_that_are_wrong_are_named_by_rule_repository_and_file(lake: Lake):
    nodes = lake.read(NODES, where="repo = 'one' AND path = 'a.py'")
    write_deltalake(lake.open(NODES), nodes.slice(0, 1), mode="append")
    (twice,) = found(lake, "keys_unique")["nodes"]
    assert (twice["repo"], twice["path"], twice["rows"]) == ("one", "a.py", 2)
    lake.open(NODES).delete("repo = 'one' AND path = 'a.py' AND n > 0")
    ends = found(lake, "ends_exist")["edges"]
    assert {(row["repo"], row["path"]) for row in ends} >= {("one", "a.py")}
    lake.open(EDGES).delete("repo = 'two'")
    stray = lake.read(EDGES, where="repo = 'one'").slice(0, 1)
    at = stray.column_names.index("path")
    write_deltalake(lake.open(EDGES), stray.set_column(at, "path", [["gone.py"]]), mode="append")
    (gone,) = found(lake, "owners_exist")["edges"]
    assert (gone["repo"], gone["path"]) == ("one", "gone.py")


def test_an_update_checks_the_files_that_it_made_and_no_others(
    synced: tuple[RepoBuilder, RepoBuilder], lake: Lake, settings: Settings
):
    synced[0].commit({"b.py": "import a\n\nx = a.g()\n"})
    lakehouse("sync", "--all")
    with open_instance(settings) as instance:
        (record,) = instance.get_run_records(limit=1)
    assert written_by(lake, record.dagster_run.run_id, ["one", "two"]) == {"one": ["b.py"]}


def test_a_repository_that_does_not_fit_is_not_published_and_the_others_are(
    synced: tuple[RepoBuilder, RepoBuilder], lake: Lake
):
    one, two = synced
    one.commit({"b.py": "import a\n\nx = a.g()\n"})
    head = two.commit({"c.py": "y = 2\n"})
    before = lakehouse_json("sql", "SELECT repo, commit_sha FROM graph_versions WHERE repo = 'one'")
    lake.open(NODES).delete("repo = 'one' AND path = 'a.py' AND n = 0")

    result = lakehouse_json("sync", "--all")

    assert [(error["name"], "ends_exist" in error["seen"]) for error in result["errors"]] == [("one", True)]
    after = lakehouse_json("sql", "SELECT repo, commit_sha FROM graph_versions")
    assert [row for row in after if row["repo"] == "one"] == before
    assert {"repo": "two", "commit_sha": head} in after
