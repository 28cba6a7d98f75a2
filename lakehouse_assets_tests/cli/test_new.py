"""`lakehouse new` writes what runs and passes its own tests."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.sources.sql.project import load_project
from lakehouse_assets_tests.support.command import LAKEHOUSE, lakehouse


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command in the project."""
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_new_project_passes_its_tests_and_runs(tmp_path: Path):
    folder = tmp_path / "shop"
    assert "lakehouse ingest --all" in lakehouse("new", "project", str(folder)).stderr
    for kind, name in (("ingest", "bills"), ("model", "more"), ("asset", "size_again")):
        lakehouse("new", kind, name, "--folder", str(folder))
    tests = run(folder, sys.executable, "-m", "pytest", "-q", "tests")
    assert "4 passed" in tests.stdout, tests.stdout
    done = run(folder, str(LAKEHOUSE), "ingest", "--all")
    assert "orders: 3 rows inserted" in done.stdout, done.stderr
    again = run(folder, str(LAKEHOUSE), "ingest", "--all")
    assert "orders: 0 rows inserted" in again.stdout
    assert "1" in run(folder, str(LAKEHOUSE), "sql", "SELECT count(*) FROM orders WHERE amount IS NULL").stdout
    models = run(folder, str(LAKEHOUSE), "models", "test")
    assert "2 of 2 tests passed" in models.stdout + models.stderr
    assert run(folder, str(LAKEHOUSE), "env", "create", "prod").returncode == 0
    applied = run(folder, str(LAKEHOUSE), "apply", "prod")
    assert "apply prod: succeeded" in applied.stdout, applied.stdout + applied.stderr
    valid = run(folder, "sh", "-c", ". ./environment && dagster definitions validate -f definitions.py")
    assert valid.returncode == 0, valid.stdout + valid.stderr


def test_a_new_project_has_a_home_of_its_own_in_each_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shop = tmp_path / "shop"
    lakehouse("new", "project", str(shop))
    monkeypatch.chdir(shop / "data")
    base, dev = load_settings({}), load_settings({"LAKEHOUSE_ENV": "dev"})
    assert (base.home, base.ingest, base.models) == (shop / ".lakehouse", shop / "ingest", shop / "models")
    assert (dev.home, dev.models) == (shop / ".lakehouse" / "dev", shop / "models")
    assert load_project(base).files[0].path == str(shop / "data" / "orders*.csv")
    told = run(shop, "sh", "-c", ". ./environment && echo $LAKEHOUSE_SETTINGS")
    assert told.stdout.split() == [str(shop / "lakehouse.toml")]


def test_editors_get_schemas_that_take_what_is_right_and_refuse_what_is_not(tmp_path: Path):
    lakehouse("new", "project", str(tmp_path / "shop"))
    first, text = (tmp_path / "shop" / "ingest" / "orders.yaml").read_text().split("\n", 1)
    assert first == "# yaml-language-server: $schema=../schemas/ingest.json"
    (tmp_path / "shop" / "schemas" / "ingest.json").write_text("{}")  # of another version
    lakehouse("new", "schemas", "--folder", str(tmp_path / "shop"))
    ingest, model = (
        Draft202012Validator(json.loads((tmp_path / "shop" / "schemas" / name).read_text()))
        for name in ("ingest.json", "model.json")
    )
    said = yaml.safe_load(text)
    assert not list(ingest.iter_errors(said))
    said["files"][0]["formt"] = "csv"
    assert "formt" in next(ingest.iter_errors(said)).message
    steps = [{"do": "filter", "where": "amount > 0"}]
    right = {"description": "d", "key": ["id"], "columns": {"id": "Number."}, "from": "orders", "steps": steps}
    assert not list(model.iter_errors(right))
    assert list(model.iter_errors({**right, "steps": [{"do": "fliter", "where": "amount > 0"}]}))
    assert list(model.iter_errors({"from": "orders"}))


def test_nothing_that_is_there_is_overwritten(tmp_path: Path):
    lakehouse("new", "asset", "size", "--folder", str(tmp_path))
    (tmp_path / "assets" / "size.py").write_text("mine")
    with pytest.raises(BadInputError, match="there already"):
        lakehouse("new", "asset", "size", "--folder", str(tmp_path))
    assert (tmp_path / "assets" / "size.py").read_text() == "mine"
    with pytest.raises(BadInputError, match="other characters"):
        lakehouse("new", "model", "../up")
