"""SQL models as Dagster assets: lineage, checks, and runs that apply an environment."""

from pathlib import Path

import pytest
from dagster import (
    AssetCheckKey,
    AssetKey,
    AssetsDefinition,
    DagsterInstance,
    ExecuteInProcessResult,
    TableColumnLineage,
    TableSchema,
    materialize,
)

from lakehouse_assets.assets.models import model_assets
from lakehouse_assets.contracts.pipeline_executions import PIPELINE_EXECUTIONS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.diagnostics import collecting
from lakehouse_assets.lake.io_manager import DeltaIOManager
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.git_assets import NoSpark
from lakehouse_assets_tests.support.model_lake import ModelLake, file
from lakehouse_assets_tests.support.models import model_text

SIZES = model_text(
    "SELECT repo, path, size FROM snapshots",
    materialization="by_partition",
    partition_by="[repo]",
    audits="[at_least: {size: 1}]",
    description="Sizes.",
    columns="{size: Bytes.}",
    tags="[small]",
)


@pytest.fixture
def models(lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelLake:
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    found = ModelLake(lake, tmp_path / "models")
    found.rows(SNAPSHOTS, [file("a", "x.py", 1), file("b", "y.py", 2)])
    found.models(sizes=SIZES, large="SELECT repo, path, size + 0 AS much FROM sizes WHERE size > 1")
    return found


def run(models: ModelLake, *names: str, instance: DagsterInstance, environment: str = "prod") -> ExecuteInProcessResult:
    lakehouse, spark = LakehouseResource(), NoSpark()
    (assets,) = model_assets(models.folder)
    return materialize(
        [assets],
        selection=list(names) or None,
        instance=instance,
        raise_on_error=False,
        resources={"lakehouse": lakehouse, "spark": spark, "delta": DeltaIOManager(lakehouse=lakehouse, spark=spark)},
        run_config={
            "ops": {"models": {"config": {"environment": environment}}},
            "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
        },
    )


def made(result: ExecuteInProcessResult) -> list[str]:
    return [
        event.step_materialization_data.materialization.asset_key.to_user_string()
        for event in result.get_asset_materialization_events()
    ]


def test_each_model_is_an_asset_with_what_it_reads_and_its_audits_as_checks(models: ModelLake):
    (assets,) = model_assets(models.folder)
    assert isinstance(assets, AssetsDefinition)
    specs = {spec.key.to_user_string(): spec for spec in assets.specs}
    assert [dep.asset_key.to_user_string() for dep in specs["large"].deps] == ["sizes"]
    assert [dep.asset_key.to_user_string() for dep in specs["sizes"].deps] == ["snapshots"]
    assert specs["sizes"].description == "Sizes."
    assert set(assets.check_keys) == {AssetCheckKey(AssetKey("sizes"), "at_least_size")}


def test_a_model_is_made_also_where_a_table_that_it_reads_is_not_there_yet(models: ModelLake):
    models.models(touched="SELECT s.repo, s.path FROM snapshots AS s JOIN commit_files AS f ON f.path = s.path")
    with DagsterInstance.ephemeral() as instance:
        done = run(models, "touched", instance=instance)
    assert done.success
    lineage = done.asset_materializations_for_node("models")[0].metadata["dagster/column_lineage"].value
    assert isinstance(lineage, TableColumnLineage)
    assert lineage.deps_by_column["path"][0].column_name == "path"
    assert models.ask("prod", "SELECT count(*) AS n FROM touched") == [{"n": 0}]


def test_a_run_applies_the_environment_and_a_second_one_makes_nothing(models: ModelLake):
    with DagsterInstance.ephemeral() as instance:
        first = run(models, instance=instance)
        assert first.success
        assert made(first) == ["sizes", "large"]
        (check,) = first.get_asset_check_evaluations()
        assert (check.check_name, check.passed) == ("at_least_size", True)
        told = first.asset_materializations_for_node("models")[1].metadata
        lineage = told["dagster/column_lineage"].value
        assert isinstance(lineage, TableColumnLineage)
        assert [dep.column_name for dep in lineage.deps_by_column["much"]] == ["size"]
        assert "much" in str(told["query"].value)
        assert "write_deltalake(" in str(told["statement"].value)
        schema = first.asset_materializations_for_node("models")[0].metadata["dagster/column_schema"].value
        assert isinstance(schema, TableSchema)
        assert ("size", "bigint", "Bytes.") in [(each.name, each.type, each.description) for each in schema.columns]
        assert told["version"].value == models.environment("prod").members["large"].version
        assert models.ask("prod", "SELECT path FROM large") == [{"path": "y.py"}]
        second = run(models, instance=instance)
        assert second.success
        assert made(second) == []
        rows = {row["execution"]: row for row in models.lake.rows(PIPELINE_EXECUTIONS)}
        assert rows[first.run_id]["models_run"] == ["sizes", "large"]
        assert rows[second.run_id]["models_skipped"] == ["large", "sizes"]


def test_a_run_of_some_models_leaves_the_others(models: ModelLake):
    with DagsterInstance.ephemeral() as instance:
        assert made(run(models, "sizes", instance=instance, environment="dev")) == ["sizes"]
        assert list(models.environment("dev").models) == ["sizes"]


def test_an_audit_that_finds_rows_fails_its_check_and_the_run_however_often_it_is_started(models: ModelLake):
    models.rows(SNAPSHOTS, [file("a", "x.py", 0)])
    with DagsterInstance.ephemeral() as instance:
        for _ in range(2):
            result = run(models, instance=instance)
            assert not result.success
            (check,) = result.get_asset_check_evaluations()
            assert not check.passed
            assert models.environment("prod").models == {}


def test_a_wrong_file_leaves_the_models_out_and_says_so(models: ModelLake):
    models.models(wrong="/* model\nkey: [a]\n*/ SELECT FROM")
    with collecting() as told:
        assert model_assets(models.folder) == []
    assert "the models are left out" in told[0].message
