"""The configuration of the resource `spark` reaches the session, whoever starts it, and is read back from it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dagster import asset, materialize
from pyspark.sql import SparkSession

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.resources import SparkResource
from lakehouse_assets.lake.server import start_server, stop_server
from lakehouse_assets.lake.session import give_conf, runtime_for
from lakehouse_assets_tests.lake.test_session import run_python
from lakehouse_assets_tests.support.cluster import running_spark_cluster
from lakehouse_assets_tests.support.ports import free_port

READ_BACK = """
from dagster import asset, materialize
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.resources import SparkResource
from lakehouse_assets.lake.session import runtime_for

GIVEN = {given}

@asset
def read_back(spark: SparkResource) -> None:
    session = runtime_for(load_settings()).session  # as steps do that start it by themselves
    assert session is spark.spark_session
    for name in {names}:
        print(name, session.conf.get(name, None))

materialize([read_back], resources={{"spark": SparkResource(spark_config=GIVEN)}},
            run_config={{"loggers": {{"console": {{"config": {{"log_level": "CRITICAL"}}}}}}}})
"""
NESTED = {
    "spark": {"executor": {"memory": "640m"}, "sql": {"ansi": {"enabled": False}}},
    "spark.sql.shuffle.partitions": 5,
}
NAMES = ["spark.executor.memory", "spark.sql.ansi.enabled", "spark.sql.shuffle.partitions"]
TOLD = ["spark.executor.memory 640m", "spark.sql.ansi.enabled false", "spark.sql.shuffle.partitions 5"]


def code(given: dict[str, Any], names: list[str] = NAMES) -> str:
    return READ_BACK.format(given=repr(given), names=repr(names))


@pytest.fixture(autouse=True)
def _nothing_given() -> Iterator[None]:
    yield
    give_conf({})


def test_a_running_session_takes_what_may_change(spark: SparkSession, settings: Settings):
    partitions = spark.conf.get("spark.sql.shuffle.partitions")
    resource = SparkResource(spark_config={"spark.sql.shuffle.partitions": 9})
    assert resource.spark_session is spark
    assert spark.conf.get("spark.sql.shuffle.partitions") == "9"
    give_conf({})
    assert runtime_for(settings).session.conf.get("spark.sql.shuffle.partitions") == partitions


def test_a_running_session_refuses_what_is_read_at_its_start_and_takes_nothing(spark: SparkSession, settings: Settings):
    partitions = spark.conf.get("spark.sql.shuffle.partitions")
    given = {"spark.sql.shuffle.partitions": "11", "spark.executor.memory": "700m"}
    with pytest.raises(BadInputError, match=r"spark_config: spark.executor.memory: .* does not take it any more"):
        _ = SparkResource(spark_config=given).spark_session
    assert spark.conf.get("spark.sql.shuffle.partitions") == partitions


def test_the_launchpad_s_configuration_reaches_the_session(spark: SparkSession, settings: Settings):
    seen: list[str | None] = []

    @asset
    def read_back(spark: SparkResource) -> None:
        seen.append(spark.spark_session.conf.get("spark.sql.shuffle.partitions"))

    run = materialize(
        [read_back],
        resources={"spark": SparkResource()},
        run_config={
            "resources": {"spark": {"config": {"spark_config": {"spark.sql.shuffle.partitions": "13"}}}},
            "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
        },
    )
    assert run.success
    assert seen == ["13"]


@pytest.mark.slow
def test_a_session_in_process_starts_with_what_is_given(settings: Settings):
    done = run_python(code(NESTED), settings, LAKEHOUSE_SPARK="in-process")
    assert done.stdout.splitlines() == TOLD, done.stderr


@pytest.mark.slow
def test_a_connect_server_takes_what_may_change_and_refuses_the_rest_by_name(settings: Settings):
    other = settings.model_copy(update={"resident_port": free_port()})
    environ = {"LAKEHOUSE_SPARK": "resident", "LAKEHOUSE_RESIDENT_PORT": str(other.resident_port)}
    changeable = {"spark.sql.shuffle.partitions": 5, "spark.sql.ansi.enabled": False}
    start_server(other)
    try:
        done = run_python(code(changeable, NAMES[1:]), other, **environ)
        assert done.stdout.splitlines() == TOLD[1:], done.stderr
        refused = run_python(code(NESTED), other, **environ)
    finally:
        stop_server(other)
    assert refused.returncode != 0
    assert "spark_config: spark.executor.memory: the Spark server" in refused.stderr


@pytest.mark.slow
def test_an_application_on_a_cluster_starts_with_what_is_given(settings: Settings, tmp_path: Path):
    with running_spark_cluster(tmp_path / "spark") as cluster:
        given = {"spark.executor.cores": 1, "spark.sql.shuffle.partitions": 5}
        names = ["spark.executor.cores", "spark.sql.shuffle.partitions"]
        done = run_python(code(given, names), settings, LAKEHOUSE_SPARK=cluster.master, **cluster.environ)
    assert done.stdout.splitlines() == ["spark.executor.cores 1", TOLD[2]], done.stderr
