"""Asset checks look at what a run wrote, name the rows that are wrong, and hold back only the repository that is."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from dagster import AssetCheckEvaluation, TableMetadataValue
from deltalake import write_deltalake

from lakehouse_assets.automation.checks import CHECKED
from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.edges import EDGES
from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.definitions import defs
from lakehouse_assets.lake.integrity import RULES, broken, written_by
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.repos import RepoBuilder
from lakehouse_assets_tests.support.writes import write


@pytest.fixture
def synced(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> tuple[RepoBuilder, RepoBuilder]:
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
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


def checked_everything(settings: Settings) -> dict[tuple[str, str], AssetCheckEvaluation]:
    """What the nightly job finds, by table and check."""
    with open_instance(settings) as instance:
        done = defs.resolve_job_def("check_everything").execute_in_process(instance=instance)
    return {(each.asset_key.path[-1], each.check_name): each for each in done.get_asset_check_evaluations()}


def records(check: AssetCheckEvaluation, name: str) -> list[dict[str, Any]]:
    value = check.metadata[name]
    assert isinstance(value, TableMetadataValue)
    return [dict(record.data) for record in value.records]


@pytest.mark.usefixtures("synced")
def test_rows_that_were_set_aside_are_shown_as_a_table_with_partition_and_rule_and_no_key_may_be_there_twice(
    lake: Lake, settings: Settings
):
    found = checked_everything(settings)
    assert {table for table, name in found if name == "contract"} == {each.name for each in CHECKED}
    assert all(each.passed for each in found.values())

    lenient = replace(IMPORTS_RESOLVED, violations="quarantine")
    rows = lake.read(IMPORTS_RESOLVED, where="repo = 'one'")
    at = rows.column_names.index("path")
    nobody_s = rows.slice(0, 1).set_column(at, rows.schema.field(at), pa.nulls(1, pa.string()))
    write(lake, lenient, pa.concat_tables([rows, nobody_s]), partitions=("one",), run_id="by hand")
    write_deltalake(lake.open(COMMITS), lake.read(COMMITS, where="repo = 'two'"), mode="append")

    found = checked_everything(settings)

    broken_contracts = {table for (table, name), each in found.items() if name == "contract" and not each.passed}
    assert broken_contracts == {"imports_resolved", "commits"}
    (aside,) = records(found["imports_resolved", "contract"], "failing_rows")
    assert (aside["partition"], aside["rows"]) == ("one", 1)
    assert "path" in aside["broken"]
    assert '"repo":"one"' in aside["row"].replace('": "', '":"')
    assert records(found["imports_resolved", "contract"], "partitions") == [{"partition": "one", "rows": 1}]
    (twice,) = records(found["commits", "contract"], "failing_rows")
    assert (twice["partition"], twice["rows"]) == ("two", 2)
    assert "more than once" in twice["broken"]


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
