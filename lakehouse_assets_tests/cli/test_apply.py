"""Environments by the command: made, planned, applied, compared, promoted, rolled back and dropped."""

from pathlib import Path

import pyarrow as pa
import pytest
from dagster import AssetCheckKey, AssetKey
from deltalake import write_deltalake

from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.errors import BadInputError, LakeStateError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.model_lake import ModelLake, file
from lakehouse_assets_tests.support.models import model_text


@pytest.fixture
def models(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelLake:
    monkeypatch.setenv("LAKEHOUSE_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    found = ModelLake(Lake(settings.lake), tmp_path / "models")
    found.rows(SNAPSHOTS, [file("a", "x.py", 1), file("a", "y.py", 2)])
    found.models(sizes="SELECT repo, path, size FROM snapshots")
    return found


def test_a_change_goes_through_dev_to_prod_and_back(models: ModelLake):
    lakehouse("env", "create", "prod", "--owner", "ann", "--description", "What people see.")
    assert "1 of 1 models will run" in lakehouse("plan", "prod").stdout
    done = lakehouse_json("apply", "prod")
    assert (done["status"], done["run"]) == ("succeeded", ["sizes"])
    lakehouse("env", "create", "dev", "--base", "prod", "--start", "2026-01-01", "--expires-in", "7")
    assert "with the 1 models of dev" in lakehouse("env", "create", "other", "--base", "dev").stdout
    models.models(sizes="SELECT repo, path, size + 1 AS size FROM snapshots WHERE path <> 'y.py'")
    plan = lakehouse_json("plan", "dev")
    (row,) = plan["models"]
    assert (row["category"], row["action"], row["reads"]) == ("breaking", "build", 2)
    assert "breaking: which rows there are" in lakehouse("plan", "dev").stdout
    assert lakehouse_json("apply", "dev", "--plan", plan["plan"])["run"] == ["sizes"]
    with pytest.raises(LakeStateError, match="the environment and"):
        lakehouse("apply", "dev", "--plan", plan["plan"])
    difference = lakehouse_json("table-diff", "prod:sizes", "dev:sizes")
    assert (difference["only_first"], difference["only_second"], difference["changed"]) == (1, 0, 1)
    assert difference["changed_by_column"] == {"size": 1}
    assert difference["samples"]["changed"] == [{"repo": "a", "path": "x.py", "size (1)": 1, "size (2)": 2}]
    assert "1 changed, 1 only in prod:sizes" in lakehouse("table-diff", "prod:sizes", "dev:sizes").stdout
    assert [row["name"] for row in lakehouse_json("env", "diff", "dev", "prod")] == ["sizes"]
    assert lakehouse_json("promote", "dev", "prod")["run"] == []
    assert lakehouse_json("sql", "--env", "prod", "SELECT path, size FROM sizes") == [{"path": "x.py", "size": 2}]
    lakehouse("rollback", "prod")
    assert len(lakehouse_json("sql", "--env", "prod", "SELECT path, size FROM sizes")) == 2
    shown = lakehouse_json("env", "show", "other")
    assert (shown["owner"], shown["start"]) == ("ann", "2026-01-01")
    assert [row["action"] for row in lakehouse_json("env", "show", "prod")["revisions"]] == [
        "create",
        "apply",
        "promote",
        "rollback",
    ]
    lakehouse("env", "drop", "other")
    lakehouse("env", "drop", "dev")
    assert [row["environment"] for row in lakehouse_json("env", "list")] == ["prod"]
    assert lakehouse_json("env", "gc")["tables"] == {}  # prod would go back to what dev had built


def test_models_are_listed_and_tested(models: ModelLake):
    (row,) = lakehouse_json("models", "list")
    assert (row["model"], row["reads"]) == ("sizes", ["snapshots"])
    test = "it doubles: {given: {snapshots: [{path: x, size: 1}]}, expect: [{path: x, size: %d}]}"
    (models.folder / "sizes.test.yaml").write_text(test % 1)
    assert "1 of 1 tests passed" in lakehouse("models", "test").stdout
    (models.folder / "sizes.test.yaml").write_text(test % 2)
    failed = lakehouse("models", "test", "sizes")
    assert failed.exit_code == 1
    assert "given, and not expected: {'path': 'x', 'size': 1}" in failed.stdout
    (models.folder / "wrong.sql").write_text("/* model\nkey: [a]\n*/\nSELECT a FROM snapshotz")
    with pytest.raises(BadInputError, match=r"wrong\.sql:4: there is no table 'snapshotz'"):
        lakehouse("models", "list")


@pytest.mark.parametrize("text", ["prod:sizes", "nothing", "snapshots@x"])
def test_a_table_that_is_not_there_cannot_be_compared(models: ModelLake, text: str):
    with pytest.raises(BadInputError, match="there is none of that name"):
        lakehouse("table-diff", text, "snapshots")


def test_a_table_can_be_compared_with_its_earlier_version(models: ModelLake):
    models.rows(SNAPSHOTS, [file("a", "x.py", 1)])
    found = lakehouse_json("table-diff", "snapshots@1", "snapshots", "--on", "path")
    assert (found["only_first"], found["equal"], found["key"]) == (1, 1, ["path"])


def test_what_the_command_has_built_and_audited_is_seen_in_dagster(models: ModelLake, settings: Settings):
    audits = "[not_null: [path], at_most: {size: 1}]"
    models.models(checked=model_text("SELECT repo, path, size FROM sizes", audits=audits))
    lakehouse("env", "create", "prod")
    assert lakehouse_json("apply", "prod")["run"] == ["sizes", "checked"]
    with open_instance(settings) as instance:
        for name in ("sizes", "checked"):
            event = instance.get_latest_materialization_event(AssetKey(name))
            assert event is not None
            assert event.asset_materialization is not None
            assert event.asset_materialization.metadata["environment"].value == "prod"
        found = {
            name: instance.event_log_storage.get_latest_asset_check_execution_by_key([key])[key].status.value
            for name in ("not_null_path", "at_most_size")
            for key in [AssetCheckKey(AssetKey("checked"), name)]
        }
    assert found == {"not_null_path": "SUCCEEDED", "at_most_size": "FAILED"}


def test_the_doctor_takes_tables_of_models_and_what_they_read_for_what_they_are(models: ModelLake, settings: Settings):
    lake = Path(str(settings.lake))
    write_deltalake(lake / "prices", pa.table({"path": ["x.py"], "price": [3]}))
    write_deltalake(lake / "stray", pa.table({"n": [1]}))
    models.models(priced="SELECT s.repo, s.path, p.price FROM sizes AS s JOIN prices AS p ON p.path = s.path")
    lakehouse("env", "create", "prod")
    lakehouse("apply", "prod")
    (found,) = [each for each in lakehouse_json("doctor") if each["check"] == "lake"]
    assert found["status"] == "warning"
    assert found["seen"].endswith("not ours: stray")
    # Following it breaks nothing.
    moved = found["remedy"].removeprefix("if nothing else reads it, move ").removesuffix(" out of the lake").split(", ")
    assert moved == ["stray"]
    for name in moved:
        (lake / name).rename(lake.parent / name)
    (found,) = [each for each in lakehouse_json("doctor") if each["check"] == "lake"]
    assert (found["status"], found["remedy"]) == ("ok", "")
    assert ", 2 of models" in found["seen"]
    assert lakehouse_json("sql", "--env", "prod", "SELECT path, price FROM priced") == [{"path": "x.py", "price": 3}]
