"""One session per process; ending it leaves no JVM; every mode runs the same Delta statements."""

import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from lakehouse_assets.core.errors import EnvironmentNotReadyError, LakeStateError
from lakehouse_assets.core.settings import InProcess, Resident, Settings
from lakehouse_assets.lake.server import running_server, start_server, stop_server
from lakehouse_assets.lake.session import SparkRuntime, runtime_for
from lakehouse_assets_tests.support.ports import free_port

DELTA_STATEMENTS = """
import pyarrow as pa
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.session import runtime_for

settings = load_settings()
runtime = runtime_for(settings)
spark = runtime.session
table = f"delta.`{settings.lake}/t`"
spark.range(4).selectExpr("id", "'a' AS repo").write.format("delta").partitionBy("repo").save(f"{settings.lake}/t")
spark.sql(
    f"MERGE INTO {table} t USING (SELECT 3L AS id, 'a' AS repo UNION ALL SELECT 9L, 'a') s "
    "ON t.repo = 'a' AND t.id = s.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *"
)
spark.sql(f"INSERT INTO {table} REPLACE WHERE repo = 'b' SELECT 7L AS id, 'b' AS repo")

def double(batches):
    import lakehouse_assets.core.hashing
    for batch in batches:
        yield pa.RecordBatch.from_arrays([pa.array([2 * v for v in batch["id"].to_pylist()], pa.int64())], ["id"])

rows = spark.sql(f"SELECT id FROM {table}").mapInArrow(double, "id long").collect()
print(sorted(row.id for row in rows))

from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.writes import THINGS, rows_of, table_of, thing, worker_rows, write

lake = Lake(settings.lake)
for size in (1, 2):
    made = worker_rows(spark, table_of(THINGS, [thing("a", f"{number}.py", "f", size) for number in range(3)]))
    done = write(lake, THINGS, made, run_id=str(size), spark=spark)
    print(done.action, done.executor, done.rows_changed, [row["size"] for row in rows_of(lake, THINGS)])
runtime.stop()
"""
TOLD = ["[0, 2, 4, 14, 18]", "append workers 3 [1, 1, 1]", "merge workers 3 [2, 2, 2]"]


def run_python(code: str, settings: Settings, **environ: str) -> subprocess.CompletedProcess[str]:
    import os

    env = os.environ | {"LAKEHOUSE_HOME": str(settings.home)} | environ
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=240, check=False)


def java_children() -> list[psutil.Process]:
    return [process for process in psutil.Process().children(recursive=True) if process.name() == "java"]


@pytest.mark.slow
def test_the_same_statements_run_in_process_and_on_the_resident_server_and_nothing_survives(settings: Settings):
    in_process = run_python(DELTA_STATEMENTS, settings, LAKEHOUSE_SPARK="in-process")
    assert in_process.stdout.splitlines() == TOLD, in_process.stderr

    other = settings.model_copy(update={"home": settings.home / "other", "resident_port": free_port()})
    environ = {"LAKEHOUSE_RESIDENT_PORT": str(other.resident_port)}
    state, started = start_server(other)
    try:
        assert started
        assert start_server(other) == (state, False)
        resident = run_python(DELTA_STATEMENTS, other, LAKEHOUSE_SPARK="resident", **environ)
        assert resident.stdout.splitlines() == TOLD, resident.stderr
        family = [psutil.Process(state.pid), *psutil.Process(state.pid).children(recursive=True)]
        assert len(family) > 1, "the server has Python workers"
    finally:
        stopped = stop_server(other)
    assert stopped == state
    assert [process for process in family if process.is_running()] == []
    assert running_server(other) is None


def test_asking_for_a_resident_server_that_is_not_up_is_refused(settings: Settings):
    runtime = SparkRuntime(settings.model_copy(update={"spark": Resident()}))
    with pytest.raises(EnvironmentNotReadyError, match="lakehouse server start"):
        _ = runtime.session


def test_a_port_in_use_is_refused_by_number(settings: Settings):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(EnvironmentNotReadyError, match=f"port {port}: another process listens on it"):
            start_server(settings.model_copy(update={"resident_port": port}))
    assert running_server(settings) is None


def test_a_recycled_process_id_is_not_taken_for_the_server(settings: Settings):
    settings.server.mkdir(parents=True)
    mine = psutil.Process()
    (settings.server / "state.json").write_text(
        f'{{"pid": {mine.pid}, "born": {mine.create_time() - 60}, "port": 1, "profile": "update"}}'
    )
    assert running_server(settings) is None
    assert stop_server(settings) is None


def test_without_java_the_message_says_what_to_do(settings: Settings, tmp_path: Path):
    code = "from lakehouse_assets.cli.main import main\nimport sys\nsys.argv = ['lakehouse', 'server', 'start']\nmain()"
    # No Java on PATH, and none in the standard places as far as the process can tell.
    hide = "import lakehouse_assets.core.java as java\njava._STANDARD_PLACES = ()\n"
    result = run_python(hide + code, settings, PATH=str(tmp_path), JAVA_HOME=str(tmp_path))
    assert result.returncode == 1
    assert "Java" in result.stderr
    assert "make setup" in result.stderr


def test_a_process_has_one_session_and_other_settings_are_refused(spark, settings: Settings):
    assert runtime_for(settings).session is spark
    with pytest.raises(LakeStateError, match="started with other settings"):
        runtime_for(settings.model_copy(update={"spark": InProcess(), "cores": settings.cores + 1}))
    assert len(java_children()) == 1
