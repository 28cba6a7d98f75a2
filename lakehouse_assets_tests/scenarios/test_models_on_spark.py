"""Models that Spark runs: exact numbers, rows that make a query fail, and SQL that only Spark has."""

from pathlib import Path

import pytest
from dagster import DagsterInstance, materialize
from pyspark.sql import SparkSession

from lakehouse_assets.assets.models import model_assets
from lakehouse_assets.contracts.pipeline_executions import PIPELINE_EXECUTIONS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.environment_reads import environment_tables
from lakehouse_assets.lake.io_manager import DeltaIOManager
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.table_diff import table_diff
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.view_rows import ViewReader
from lakehouse_assets_tests.support.model_lake import ModelLake, file
from lakehouse_assets_tests.support.models import model_text
from lakehouse_assets_tests.support.writes import no_spark

pytestmark = pytest.mark.slow

EXACT = "SELECT repo, path, CAST('12345678901234567.89' AS DECIMAL(20, 2)) AS amount FROM snapshots"
CHECKED = """key: [repo, path]
from: snapshots
steps:
  - {do: select, columns: [repo, path, size]}
  - {do: validate, rules: {small: size < 5}, on_failure: fail}
"""


@pytest.fixture
def found(lake: Lake, tmp_path: Path, spark: SparkSession) -> ModelLake:
    found = ModelLake(lake, tmp_path / "models")
    found.rows(SNAPSHOTS, [file("a", "x.py", 1), file("a", "99.py", 9)])
    found.spark, found.engine = lambda: spark, "auto"
    found.create("prod")
    return found


def statuses(found: ModelLake) -> list[str]:
    return [row["status"] for row in found.lake.rows(PIPELINE_EXECUTIONS)]


def test_an_exact_number_is_refused_unless_the_model_says_how_it_is_stored(found: ModelLake):
    found.models(exact=EXACT)
    said = found.apply("prod").failed["exact"]
    assert "its column amount is decimal128(20, 2)" in said
    assert "`amount: {type: string}` keeps every digit" in said
    assert not list(Path(str(found.lake.root)).glob("exact__*"))
    found.models(exact=model_text(EXACT, columns="{amount: {type: string}}"))
    assert found.ran("prod") == ["exact"]
    assert {row["amount"] for row in found.ask("prod", "SELECT amount FROM exact")} == {"12345678901234567.89"}


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (model_text("SELECT repo, path, CAST(path AS INT) AS n FROM snapshots"), "CAST_INVALID_INPUT"),
        (model_text("SELECT repo, path, size / (size - 1) AS n FROM snapshots"), "DIVIDE_BY_ZERO"),
        (model_text("SELECT repo, path, CAST(CONCAT(path, ' day') AS INTERVAL DAY) > INTERVAL '1' DAY AS n "
                    "FROM snapshots"), "INTERVAL"),
        (model_text("SELECT repo, path, INTERVAL '1' YEAR AS n FROM snapshots"), "its column n is interval year"),
        (model_text("SELECT repo, path, raise_error('no such size') AS n FROM snapshots"), "no such size"),
        (model_text("SELECT repo, path, size * CAST(9223372036854775807 AS BIGINT) + CAST('0' AS BIGINT) AS n "
                    "FROM snapshots"), "OVERFLOW"),
        (CHECKED, "small"),
    ],
)  # fmt: skip
def test_a_row_that_makes_a_query_fail_is_told_and_ends_the_execution(found: ModelLake, text: str, seen: str):
    name = "wrong.model.yaml" if text is CHECKED else "wrong.sql"
    (found.folder / name).write_text(text)
    found.models(fine="SELECT repo, path FROM snapshots")
    done = found.apply("prod")
    assert done.failed["wrong"].startswith("model wrong: ")
    assert seen in done.failed["wrong"]
    assert done.run == ("fine",)
    assert statuses(found) == ["failed"]


def test_a_row_that_fails_does_not_show_what_is_sensitive(found: ModelLake):
    found.models(
        first=model_text("SELECT repo, path FROM snapshots", columns="{path: {sensitive: true}}"),
        wrong="SELECT repo, 'p' AS path, MAX(CAST(path AS INT)) AS n FROM first GROUP BY repo",
    )
    said = found.apply("prod").failed["wrong"]
    assert "CAST_INVALID_INPUT" in said
    assert ".py" not in said


def test_a_row_that_fails_in_dagster_ends_the_execution(
    found: ModelLake, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
):
    found.models(wrong="SELECT repo, path, CAST(path AS INT) AS n FROM snapshots")
    lakehouse, resource = LakehouseResource(), SparkResource()
    (assets,) = model_assets(found.folder)
    with DagsterInstance.ephemeral() as instance:
        done = materialize(
            [assets],
            instance=instance,
            raise_on_error=False,
            resources={
                "lakehouse": lakehouse,
                "spark": resource,
                "delta": DeltaIOManager(lakehouse=lakehouse, spark=resource),
            },
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )
        assert not done.success
        (event,) = [each for each in done.all_events if each.is_step_failure]
    assert "CAST_INVALID_INPUT" in str(event.step_failure_data.error)
    assert statuses(found) == ["failed"]


VIEW = "SELECT repo, path, {} AS seen FROM snapshots"


def test_a_view_that_is_read_has_the_rows_that_spark_gives_it(found: ModelLake, spark: SparkSession):
    found.models(
        seen=model_text(VIEW.format("CAST(size + 0.7D AS INT)"), materialization="view", key=None),
        read_on=model_text("SELECT repo, path, seen + 1 AS more FROM seen", materialization="view", key=None),
        stored="SELECT repo, path, seen FROM seen",
    )
    assert found.ran("prod") == ["stored"]
    independent = {size: row[0] for size in (1, 9) for row in spark.sql(f"SELECT CAST({size} + 0.7D AS INT)").collect()}
    assert independent == {1: 1, 9: 9}  # DuckDB would round
    for asked, more in (("seen FROM seen", 0), ("seen FROM stored", 0), ("more FROM read_on", 1)):
        rows = found.ask("prod", f"SELECT {asked}")
        assert sorted(value for row in rows for value in row.values()) == [1 + more, 9 + more]
    reader = ViewReader(spark=lambda: spark, engine="auto")
    assert table_diff(found.lake, "prod:seen", "prod:stored", views=reader, on=["repo", "path"]).equal == 2


def test_a_view_whose_rows_fail_is_told_to_who_reads_it(found: ModelLake):
    found.models(wrong=model_text(VIEW.format("CAST(path AS INT)"), materialization="view", key=None))
    found.ran("prod")
    with pytest.raises(BadInputError, match="view wrong: CAST_INVALID_INPUT"):
        found.ask("prod", "SELECT * FROM wrong")
    keeping_out = ViewReader(spark=no_spark, engine="local")
    with pytest.raises(BadInputError, match="LAKEHOUSE_ENGINE keeps Spark out"):
        environment_tables(found.lake, "SELECT * FROM wrong", "prod", keeping_out)


def test_sql_that_only_spark_has_is_run_there(found: ModelLake):
    found.models(
        sizes="SELECT repo, path, CAST(path AS BINARY) AS raw, CAST(size AS STRING) AS text FROM snapshots",
        asked="SELECT repo, path, LENGTH(raw) AS n, text > 5 AS is_large FROM sizes",
    )
    assert found.ran("prod") == ["asked", "sizes"]
    rows = found.ask("prod", "SELECT path, n, is_large FROM asked ORDER BY path")
    assert [tuple(row.values()) for row in rows] == [("99.py", 5, True), ("x.py", 4, False)]
