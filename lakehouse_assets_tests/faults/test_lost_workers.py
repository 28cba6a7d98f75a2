"""A Python worker of Spark that is killed, runs out of memory or stands still: told plainly, nothing kept."""

import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lakehouse_assets.core.errors import EnvironmentNotReadyError
from lakehouse_assets.lake.batch import WorkerRows
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.faults.conftest import FaultNamed
from lakehouse_assets_tests.support.writes import THINGS, rows_of, table_of, thing, worker_rows, write

Batches = Iterator[pa.RecordBatch]
IDLE = "spark.sql.execution.pyspark.udf.idleTimeoutSeconds"


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def out_of_memory() -> None:
    """The system refuses what is beyond the process's limit. Workers are used again, so it is lifted after."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (psutil.Process().memory_info().vms + 64 * 2**20, before[1]))
    try:
        bytearray(2**30)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def hung() -> None:
    time.sleep(3600)


FAULTS: dict[str, tuple[Callable[[], None], str]] = {
    "a Python worker is killed": (killed, "ended without a word"),
    "a Python worker runs out of memory": (out_of_memory, "memory ran out|ran out of memory"),
    "a Python worker stands still": (hung, "stood still and was ended"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_lost_worker_is_told_and_the_next_run_writes_each_row_once(
    lake: Lake, spark: SparkSession, tmp_path: Path, name: str, fault: FaultNamed
):
    tried = fault(name)
    harm, seen = FAULTS[name]
    rows = [thing("a", f"{number}.py", "f") for number in range(5)]
    whole = worker_rows(spark, table_of(THINGS, rows))

    made = whole.produce

    def produce(items: Batches) -> Batches:
        for batch in made(items):
            yield batch
            harm()

    before = spark.conf.get(IDLE) or ""
    spark.conf.set(IDLE, "3")
    try:
        with pytest.raises(EnvironmentNotReadyError, match=seen) as refusal:
            write(lake, THINGS, WorkerRows(items=whole.items, produce=produce), run_id="first", spark=spark)
    finally:
        spark.conf.set(IDLE, before)
    assert "things" in refusal.value.subject
    assert refusal.value.remedy
    assert rows_of(lake, THINGS) == []
    write(lake, THINGS, whole, run_id="second", spark=spark)
    tried.compared(rows_of(lake, THINGS), rows)
