"""Writes through the service against the same rows written by hand, side by side, in tables of three sizes.

Every way of writing gets a copy of the same table, made of hard links, so that none sees what another did. The service
writes as in a run, whose records are kept until it ends.
"""

import itertools
import os
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import psutil
import pyarrow as pa
from deltalake import DeltaTable

from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.lake.batch import WorkerRows
from lakehouse_assets.lake.bookkeeping import bookkeeping
from lakehouse_assets.lake.report import WriteReport
from lakehouse_assets.lake.session import runtime_for
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.write_plan import Executor
from lakehouse_assets_tests.bench.items import (
    ITEMS,
    PER_OWNER,
    arrow_items,
    item_rows,
    laid_out,
    owner_names,
    worker_items,
)
from lakehouse_assets_tests.bench.measure import heading, line, timed
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.writes import write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SIZES = (1_000, 100_000, 10_000_000)
OWNERS = 10
"""A small change is all rows of so many neighbouring owners."""
LOADS = (1_000_000, 10_000_000)
LARGE_TABLE, LARGE_BATCH = 2_000_000, 500_000
LAPS = 3
SMALL_LAPS = 9
"""Small writes take so little that a busy machine shows in each of them."""
GOALS = {"large": 1.15, "small": 1.5, "growth": 1.5, "memory": 1.1}

_T = TypeVar("_T")
_runs = (f"run-{number}" for number in itertools.count())


def upsert() -> None:
    """Small and large writes by the service, by a Spark MERGE, by an overwrite and by delta-rs."""
    with _warm_session() as (spark, folder, _):
        took = {rows: _small(spark, laid_out(folder / f"rows-{rows}", rows), rows) for rows in SIZES}
        growth = took[SIZES[2]] / took[SIZES[1]]
        print(
            f"  the service, {SIZES[1]:,} → {SIZES[2]:,} rows: {growth:.2f} × {_verdict(growth, 'growth')}", flush=True
        )
        _large(spark, laid_out(folder / "large", LARGE_TABLE))


def memory() -> None:
    """Peak memory of the driver, which has to stay the same whatever the number of rows."""
    with _warm_session() as (spark, folder, settings):
        heading(f"first loads by workers; the driver's heap may have {settings.driver_memory_mb} MB")
        _load(spark, Lake(folder / "warm-up"), LOADS[0] // 10)
        peaks = [_load(spark, Lake(folder / f"rows-{rows}"), rows) for rows in LOADS]
        growth = peaks[1] / peaks[0]
        print(f"  the driver's peak, {LOADS[0]:,} → {LOADS[1]:,} rows: {growth:.2f} × {_verdict(growth, 'memory')}")


@contextmanager
def _warm_session() -> "Generator[tuple[SparkSession, Path, Settings], None, None]":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LAKEHOUSE_HOME"] = folder
        settings = load_settings()
        runtime = runtime_for(settings)
        try:
            warm = Lake(Path(folder) / "warm")
            _service(warm, item_rows(runtime.session, 0, 10_000), executor="spark", spark=runtime.session)
            rows = item_rows(runtime.session, 0, 1_000, salt=1)
            _service(warm, rows, owners=owner_names(0, 10), executor="spark", spark=runtime.session)
            yield runtime.session, Path(folder), settings
        finally:
            runtime.stop()


def _load(spark: "SparkSession", lake: Lake, rows: int) -> float:
    peak: list[float] = []
    with _peak_memory(peak):
        started = time.perf_counter()
        done = _service(lake, worker_items(spark, rows), spark=spark)
        seconds = time.perf_counter() - started
    phases = ", ".join(f"{name} {taken:.1f}" for name, taken in done.seconds.items())
    note = f"{rows / seconds:,.0f} rows a second, {done.files_added} files, peak {peak[0]:,.0f} MB; {phases}"
    line(f"{rows:,} rows", seconds, note=note)
    return peak[0]


def _small(spark: "SparkSession", lake: Lake, rows: int) -> float:
    """A thousand changed rows of neighbouring owners; gives the service's seconds."""
    first = rows // PER_OWNER // 2 if rows > OWNERS * PER_OWNER else 0
    chosen = owner_names(first, OWNERS)
    salts = itertools.count(1)

    def batch() -> pa.Table:
        return arrow_items(first * PER_OWNER, OWNERS * PER_OWNER, next(salts))

    heading(f"{OWNERS * PER_OWNER:,} changed rows in a table of {rows:,}")
    service, by_rs, by_spark = (_copy(lake, name) for name in ("service", "delta-rs", "spark"))
    with bookkeeping(service):
        own, rust = _medians(
            [lambda rows: _service(service, rows, owners=chosen), lambda rows: _merge_rs(by_rs, rows, chosen)],
            batch,
            SMALL_LAPS,
        )
    (merge,) = _medians([lambda rows: _merge_spark(spark, by_spark, spark.createDataFrame(rows), chosen)], batch)
    line("the service", own, note=_told(_service(service, batch(), owners=chosen)))
    line("(a) MERGE on Spark", merge, against=("service", own))
    if rows <= 100_000:
        overwrite = timed(lambda: _overwrite(item_rows(spark, 0, rows, salt=9), by_spark), repeat=LAPS)
        line("(b) overwrite of the partition", overwrite, against=("service", own))
    else:
        print("  (b) overwrite of the partition is a first load again: see `memory`", flush=True)
    line("(c) MERGE by delta-rs", rust, against=("service", own))
    print(f"  the service is {own / rust:.2f} × (c) {_verdict(own / rust, 'small')}", flush=True)
    if rows > 1_000_000:
        _scattered(lake, rows)
    _drop(service, by_rs, by_spark)
    return own


def _scattered(lake: Lake, rows: int) -> None:
    """The same number of rows, but of owners all over the table: the files touched are what it costs."""
    places = range(0, rows // PER_OWNER, rows // PER_OWNER // OWNERS)
    far, by_rs = _copy(lake, "far"), _copy(lake, "far-rs")
    chosen = tuple(owner for place in places for owner in owner_names(place, 1))
    salts = itertools.count(100)

    def batch() -> pa.Table:
        salt = next(salts)
        return pa.concat_tables([arrow_items(place * PER_OWNER, PER_OWNER, salt) for place in places])

    with bookkeeping(far):
        own, rust = _medians(
            [lambda rows: _service(far, rows, owners=chosen), lambda rows: _merge_rs(by_rs, rows, chosen)], batch
        )
    line("the service, owners far apart", own, note=_told(_service(far, batch(), owners=chosen)))
    line("(c) MERGE by delta-rs, owners far apart", rust, against=("service", own))
    _drop(far, by_rs)


def _large(spark: "SparkSession", lake: Lake) -> None:
    heading(f"{LARGE_BATCH:,} changed rows in a table of {LARGE_TABLE:,}")
    first = (LARGE_TABLE - LARGE_BATCH) // 2
    chosen = owner_names(first // PER_OWNER, LARGE_BATCH // PER_OWNER)
    service, by_spark, replaced = (_copy(lake, name) for name in ("service", "spark", "replaced"))
    salts = itertools.count(1)

    def batch() -> "DataFrame":
        return item_rows(spark, first, LARGE_BATCH, salt=next(salts))

    with bookkeeping(service):
        own, merge, replace = _medians(
            [
                lambda rows: _service(service, rows, owners=chosen, spark=spark),
                lambda rows: _merge_spark(spark, by_spark, rows, chosen, gone=True),
                lambda rows: _overwrite(rows, replaced, f" AND path BETWEEN '{chosen[0]}' AND '{chosen[-1]}'"),
            ],
            batch,
        )
    line("the service", own, note=_told(_service(service, batch(), owners=chosen, spark=spark)))
    line("(a) MERGE on Spark", merge, against=("service", own))
    line("(b) REPLACE WHERE on Spark, its feed inexact", replace, against=("service", own))
    ratio = own / min(merge, replace)
    print(f"  the service is {ratio:.2f} × the faster of (a) and (b) {_verdict(ratio, 'large')}", flush=True)
    _drop(service, by_spark, replaced)


def _service(
    lake: Lake,
    rows: "pa.Table | DataFrame | WorkerRows",
    *,
    owners: tuple[str, ...] | None = None,
    executor: Executor = "auto",
    spark: "SparkSession | None" = None,
) -> WriteReport:
    return write(lake, ITEMS, rows, partitions=["r"], owners=owners, run_id=next(_runs), executor=executor, spark=spark)


def _merge_rs(lake: Lake, rows: pa.Table, owners: tuple[str, ...]) -> None:
    merge = DeltaTable(local(lake.path(ITEMS))).merge(
        rows,
        predicate=f"t.repo = 'r' AND t.path IN ({_listed(owners)}) AND t.repo = s.repo AND t.path = s.path "
        "AND t.name = s.name",
        source_alias="s",
        target_alias="t",
    )
    differs = "(t.size IS DISTINCT FROM s.size) OR (t.text IS DISTINCT FROM s.text)"
    merge.when_matched_update_all(differs).when_not_matched_insert_all().execute()


def _merge_spark(
    spark: "SparkSession", lake: Lake, rows: "DataFrame", owners: tuple[str, ...], *, gone: bool = False
) -> None:
    rows.createOrReplaceTempView("by_hand")
    within = f"t.repo = 'r' AND t.path IN ({_listed(owners)})"
    spark.sql(
        f"MERGE INTO delta.`{lake.path(ITEMS)}` t USING by_hand s "
        f"ON {within} AND t.repo = s.repo AND t.path = s.path AND t.name = s.name "
        "WHEN MATCHED AND NOT (t.size <=> s.size AND t.text <=> s.text) THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT *" + (f" WHEN NOT MATCHED BY SOURCE AND {within} THEN DELETE" if gone else "")
    ).collect()


def _overwrite(rows: "DataFrame", lake: Lake, within: str = "") -> None:
    writer = rows.write.format("delta").mode("overwrite").option("replaceWhere", f"repo = 'r'{within}")
    writer.save(str(lake.path(ITEMS)))


def _listed(owners: tuple[str, ...]) -> str:
    return ", ".join(f"'{owner}'" for owner in owners)


def _medians(ways: Sequence[Callable[[_T], object]], prepare: Callable[[], _T], laps: int = LAPS) -> list[float]:
    """Median seconds of each way, all in turn in every lap, so that a machine that gets busy slows each of them alike.

    What a way gets is made before the clock starts. The first lap warms up. Prints the laps if they differ much.
    """
    took: list[list[float]] = [[] for _ in ways]
    for _ in range(laps + 1):
        for seconds, way in zip(took, ways, strict=True):
            waiting = prepare()
            seconds.append(timed(lambda way=way, waiting=waiting: way(waiting)))
    kept = [seconds[1:] for seconds in took]
    if any(max(seconds) > 1.5 * min(seconds) for seconds in kept):
        told = "; ".join(" ".join(f"{lap:.3f}" for lap in seconds) for seconds in kept)
        print(f"  laps differ, read the ratio with care: {told}", flush=True)
    return [statistics.median(seconds) for seconds in kept]


def _told(report: WriteReport) -> str:
    phases = ", ".join(f"{name} {seconds:.2f}" for name, seconds in report.seconds.items())
    return f"{report.executor}, {report.files_touched} of {report.files_total} files; {phases}"


def _verdict(ratio: float, goal: str) -> str:
    return f"(goal {GOALS[goal]}: {'kept' if ratio <= GOALS[goal] else 'MISSED'})"


def _copy(lake: Lake, name: str) -> Lake:
    copy = Lake(local(lake.root).with_name(f"{local(lake.root).name}-{name}"))
    shutil.copytree(local(lake.root), local(copy.root), copy_function=os.link)
    return copy


def _drop(*lakes: Lake) -> None:
    for lake in lakes:
        shutil.rmtree(local(lake.root))


@contextmanager
def _peak_memory(into: list[float]) -> Generator[None, None, None]:
    """Give the peak of this process and its JVM in MB; Spark's Python workers are not the driver."""
    done = threading.Event()
    own = psutil.Process()
    driver = [own, *(child for child in own.children(recursive=True) if child.name() == "java")]

    def watch() -> None:
        peak = 0
        while not done.wait(0.05):
            peak = max(peak, sum(process.memory_info().rss for process in driver))
        into.append(peak / 1e6)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
