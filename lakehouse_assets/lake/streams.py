"""Streams into tables: Spark's structured streaming, through the one upsert service.

Invariant: each row of the source is written once, over any number of kills and restarts. A micro-batch is known by its
number in its checkpoint, and its write carries that number: one that was committed before the checkpoint heard of it
is noticed when it comes again. A checkpoint that was thrown away starts the source over; rows are then equal, or new.

Cost: what came since the last run, and for a folder the listing of it.
"""

import json
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lakehouse_assets.contracts.table import Strategy, TableContract
from lakehouse_assets.core.errors import EnvironmentNotReadyError, LakehouseError, LakeStateError, SourceError
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.lake.report import WriteReport
from lakehouse_assets.lake.stream_files import FileSource, file_rows, newest, without_unread
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.upsert import UpsertService
from lakehouse_assets.plan.sql_text import column
from lakehouse_assets.plan.staleness import MaterializationKey

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARTITION = "all"
"""A stream's table is one partition: what comes decides where it goes."""
_CHANGE, _VERSION = "_change_type", "_commit_version"
_PULSE = "200 milliseconds"


@dataclass(frozen=True, kw_only=True)
class TableSource:
    """The change feed of a Delta table: first its rows, then every change of them, deletes too."""

    path: LakePath


@dataclass(frozen=True, kw_only=True)
class Stream:
    """Where rows come from, and the table that they go to."""

    source: FileSource | TableSource
    contract: TableContract
    newest_by: str | None = None
    """Of all rows of one key, whenever they come, the one with the highest value counts. Without it the one that came
    last does, and several that come together are refused."""
    settings_hash: str = ""


@dataclass(frozen=True, kw_only=True)
class StreamReport:
    """What one run of a stream did."""

    batches: int
    rows: int
    inserted: int
    updated: int
    deleted: int
    quarantined: int
    """Lines that do not fit the columns and rows that break the contract, set aside."""


def run_stream(
    spark: "SparkSession", lake: Lake, stream: Stream, checkpoint: Path, *, seconds: int | None = None
) -> StreamReport:
    """Take what has come: until nothing is left, or with `seconds` for so long, waiting for more."""
    if not hasattr(spark, "_jvm"):
        raise EnvironmentNotReadyError(
            subject=f"stream into {stream.contract.name}",
            seen="the Spark session is a connection to a server",
            why="the writes of a stream are made by the process that has its session",
            remedy="set LAKEHOUSE_SPARK=in-process, or to a cluster's master",
        )
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    reports: list[WriteReport] = []
    failures: list[LakehouseError] = []
    taken: list[int] = []
    unread: list[int] = []

    def take(rows: "DataFrame", number: int) -> None:
        try:
            done, lines = _write(lake, stream, rows, f"{_query_id(checkpoint)}/{number}")
        except LakehouseError as error:  # told below as it is; Spark would bury it in a text
            failures.append(error)
            raise
        except (PySparkException, Py4JJavaError) as error:
            failures.append(_stopped(stream, _words(stream, error)))
            raise
        reports.extend(done)
        unread.append(lines)
        taken.append(number)

    writer = _read(spark, stream).writeStream.foreachBatch(take).option("checkpointLocation", str(checkpoint))
    with _told(stream, failures):
        if seconds is None:
            writer.trigger(availableNow=True).start().awaitTermination()
        else:
            query = writer.trigger(processingTime=_PULSE).start()
            try:
                query.awaitTermination(seconds)
            finally:
                query.stop()
    return StreamReport(
        batches=len(taken),
        rows=sum(each.rows_inserted + each.rows_updated + each.rows_deleted + each.rows_unchanged for each in reports),
        inserted=sum(each.rows_inserted for each in reports),
        updated=sum(each.rows_updated for each in reports),
        deleted=sum(each.rows_deleted for each in reports),
        quarantined=sum(unread) + sum(each.rows_quarantined for each in reports),
    )


def read_on_from(checkpoint: Path) -> int | None:
    """The version of its table that a stream reads on from; None for one that has taken nothing yet."""
    numbers = [int(path.name) for path in (checkpoint / "offsets").glob("*") if path.name.isdecimal()]
    if not numbers:
        return None
    place = checkpoint / "offsets" / str(max(numbers))
    try:
        return int(json.loads(place.read_text("utf-8").rstrip("\n").split("\n")[-1])["reservoirVersion"])
    except (ValueError, KeyError, IndexError, TypeError):
        failed = LakeStateError(
            subject=str(place),
            seen="it does not say which version of the table comes next",
            why="what the stream still needs could be removed",
            remedy="run the stream once more, or remove its checkpoint to let it begin anew",
        )
    raise failed


def _read(spark: "SparkSession", stream: Stream) -> "DataFrame":
    match stream.source:
        case FileSource():
            return file_rows(spark, stream.source, stream.contract)
        case TableSource(path=path):
            return spark.readStream.format("delta").option("readChangeFeed", "true").load(str(path))


def _write(lake: Lake, stream: Stream, rows: "DataFrame", batch: str) -> tuple[list[WriteReport], int]:
    """Write a micro-batch: what is there now by key, then what is gone. Each is noticed if it was done before.

    The number is that of lines that were set aside because they do not fit the columns.
    """
    contract = stream.contract
    # The session of the batch: Spark runs a stream in a session of its own.
    service = UpsertService(lake, spark=lambda: rows.sparkSession)
    key = MaterializationKey(
        asset=contract.name,
        partition=PARTITION,
        cursor=batch,
        code_version=contract.version,
        settings_hash=stream.settings_hash,
        policy_hash=contract.policy_hash,
    )

    def write(chosen: "DataFrame", strategy: Strategy | None = None) -> WriteReport:
        picked = chosen.selectExpr(*(column(each.name, "spark") for each in contract.columns))
        one = Batch(rows=picked, keys=(key,), owners=(), strategy=strategy)
        return service.write(contract, one, {PARTITION: ()}, run_id=f"stream {batch} {strategy or contract.strategy}")

    held = rows.persist()
    try:
        if held.isEmpty():
            return [], 0
        if isinstance(stream.source, FileSource):
            read, unread = without_unread(lake, contract, held, f"{contract.name}-stream {batch} unread")
            return [write(newest(lake, contract, read, stream.newest_by) if stream.newest_by else read)], unread
        net = _net_changes(held, contract.key)
        gone = net.where(f"{_CHANGE} = 'delete'")
        return [write(net.where(f"{_CHANGE} <> 'delete'")), write(gone, "delete_matching")], 0
    finally:
        held.unpersist()


def _net_changes(feed: "DataFrame", key: tuple[str, ...]) -> "DataFrame":
    """The last change of each key. A row that was deleted and inserted in one commit is there."""
    later = f"{_VERSION} DESC, CASE WHEN {_CHANGE} = 'delete' THEN 1 ELSE 0 END"
    groups = ", ".join(column(name, "spark") for name in key)
    place = f"row_number() OVER (PARTITION BY {groups} ORDER BY {later}) AS _place"
    changes = feed.where(f"{_CHANGE} <> 'update_preimage'")
    return changes.selectExpr("*", place).where("_place = 1").drop("_place")


def _query_id(checkpoint: Path) -> str:
    """The id that Spark gave the checkpoint when it was made: batches are numbered within it."""
    return json.loads((checkpoint / "metadata").read_text())["id"]


@contextmanager
def _told(stream: Stream, failures: list[LakehouseError]) -> Generator[None, None, None]:
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        failed = failures[0] if failures else _stopped(stream, _words(stream, error))
        if not stream.contract.sensitive_columns:
            raise failed from error
    else:
        return
    raise failed


def _words(stream: Stream, error: Exception) -> str:
    """What Spark says, without its stack; its name alone where its words may repeat a row that is sensitive."""
    if stream.contract.sensitive_columns:
        return type(error).__name__
    told = [line for line in str(error).split("\n") if not line.startswith("\tat ")]
    return " ".join(" ".join(told).split())[:800]


def _stopped(stream: Stream, seen: str) -> SourceError:
    return SourceError(
        subject=f"stream into {stream.contract.name}",
        seen=seen,
        why="the stream stopped; what it has written is whole, and the next run goes on from there",
        remedy="mend what is named, then run it again",
    )
