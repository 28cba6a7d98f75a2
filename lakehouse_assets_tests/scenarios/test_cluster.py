"""The same repository built in process, on a Spark cluster and through Spark Connect: the same rows, without a change.

A cluster loses a machine in the midst of a build, and the build completes.
"""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.bench.generated import generated_repository
from lakehouse_assets_tests.support.cluster import WORKERS, SparkCluster, running_spark_cluster
from lakehouse_assets_tests.support.command import LAKEHOUSE, spawn
from lakehouse_assets_tests.support.same_rows import SameRows

pytestmark = pytest.mark.slow

FILES = 30
ON_WORKERS = {"extracts", "definitions", "nodes", "edges"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    with running_spark_cluster(tmp_path_factory.mktemp("spark")) as held:
        yield held


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "made.git"
    generated_repository(path, files=FILES)
    return path


@pytest.fixture(scope="module")
def in_process(tmp_path_factory: pytest.TempPathFactory, source: Path) -> Lake:
    settings = home(tmp_path_factory.mktemp("in-process"), source)
    build(settings, {"LAKEHOUSE_SPARK": "in-process"})
    return Lake(settings.lake)


def home(folder: Path, source: Path) -> Settings:
    settings = load_settings({"LAKEHOUSE_HOME": str(folder / "home")})
    assert spawn(settings, "repo", "add", "made", str(source)).returncode == 0
    return settings


def build(settings: Settings, environ: dict[str, str]) -> None:
    done = spawn(settings, "sync", "made", **environ, LAKEHOUSE_ENGINE="spark")
    assert done.returncode == 0, done.stderr


def equal(same_rows: SameRows, place: str, settings: Settings, clean: Lake) -> None:
    """Every table has the same rows, and workers wrote those that are dear to make."""
    lake = Lake(settings.lake)
    assert same_rows(place, lake, clean, "made") > 100 * FILES
    writes = lake.read(WRITES, columns=["asset", "executor"]).to_pylist()
    assert {row["asset"] for row in writes if row["executor"] == "spark"} >= ON_WORKERS


def test_a_process_without_spark_makes_the_same_rows(
    source: Path, in_process: Lake, tmp_path: Path, same_rows: SameRows
):
    settings = home(tmp_path, source)
    done = spawn(settings, "sync", "made", LAKEHOUSE_ENGINE="local")
    assert done.returncode == 0, done.stderr
    assert same_rows("one process, without Spark", Lake(settings.lake), in_process, "made") > 100 * FILES


def test_a_cluster_makes_the_same_rows_by_code_that_only_the_driver_has(
    cluster: SparkCluster, source: Path, in_process: Lake, tmp_path: Path, same_rows: SameRows
):
    settings = home(tmp_path, source)
    before = cluster.executors()
    build(settings, cluster.environ | {"LAKEHOUSE_SPARK": cluster.master})
    assert len(cluster.executors()) == len(before) + WORKERS
    equal(same_rows, "a Spark cluster of two workers", settings, in_process)


def test_spark_connect_makes_the_same_rows_by_code_that_only_the_client_has(
    cluster: SparkCluster, source: Path, in_process: Lake, tmp_path: Path, same_rows: SameRows
):
    settings = home(tmp_path, source)
    before = cluster.executors()
    with cluster.connect_server() as address:
        build(settings, {"LAKEHOUSE_SPARK": address})
    assert len(cluster.executors()) == len(before) + WORKERS
    equal(same_rows, "a Spark cluster, through Spark Connect", settings, in_process)


def test_a_build_completes_with_the_right_rows_when_a_worker_is_lost_in_it(
    cluster: SparkCluster, source: Path, in_process: Lake, tmp_path: Path, same_rows: SameRows
):
    settings = home(tmp_path, source)
    environ = cluster.environ | {"LAKEHOUSE_SPARK": cluster.master, "LAKEHOUSE_ENGINE": "spark"}
    process = subprocess.Popen(
        [str(LAKEHOUSE), "sync", "made"],
        env=os.environ | {"LAKEHOUSE_HOME": str(settings.home)} | environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    told: list[str] = []
    for text in process.stderr:
        told.append(text)
        if "✓ blobs" in text:  # the next step, the dearest, begins on both workers
            cluster.kill_worker(0)
    try:
        assert process.wait() == 0, "".join(told)
    finally:
        cluster.start_worker()
    assert "Lost executor" in (settings.home / "logs" / "spark.log").read_text()
    equal(same_rows, "a Spark cluster that loses a worker in the build", settings, in_process)
