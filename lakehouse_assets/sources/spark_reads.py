"""Reading git on Spark: one job for all repositories of a run, each worker with pygit2.

Invariant: a worker opens repositories for reading only, and an error of ours comes home whole.
Workers see the same folders as the driver; on a cluster the lakehouse's home is on shared storage.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.schemas import spark_schema
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.sources.blobs import read_blobs
from lakehouse_assets.sources.commits import read_commits
from lakehouse_assets.sources.head import Head
from lakehouse_assets.sources.snapshot import read_snapshot

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One repository to be read at one commit."""

    repository: Repository
    git_dir: Path
    head: Head


def commits_frame(spark: "SparkSession", readings: Sequence[Reading]) -> "DataFrame":
    """Rows of `commits` for the readings."""
    by_name = _by_name(readings)

    def read(batches: Batches) -> Batches:
        for name in _names(batches):
            reading = by_name[name]
            yield from read_commits(reading.git_dir, name, reading.head)

    return _per_repository(spark, readings).mapInArrow(_reporting(read), spark_schema(COMMITS.columns))


def snapshots_frame(spark: "SparkSession", readings: Sequence[Reading]) -> "DataFrame":
    """Rows of `snapshots` for the readings."""
    by_name = _by_name(readings)

    def read(batches: Batches) -> Batches:
        for name in _names(batches):
            reading = by_name[name]
            yield from read_snapshot(reading.git_dir, reading.repository, reading.head)

    return _per_repository(spark, readings).mapInArrow(_reporting(read), spark_schema(SNAPSHOTS.columns))


def blobs_frame(snapshots: "DataFrame", known: "DataFrame", readings: Sequence[Reading], *, slices: int) -> "DataFrame":
    """Rows of `blobs` for the contents of `snapshots` that are not among `known` yet.

    A content that several repositories have is read from the first of them by name. Slices are sorted
    by sha, so that a later look-up by sha skips most of each file.
    """
    git_dirs = {name: reading.git_dir for name, reading in _by_name(readings).items()}

    def read(batches: Batches) -> Batches:
        for batch in batches:
            shas: dict[str, list[str]] = {}
            for sha, name in zip(batch.column("blob_sha").to_pylist(), batch.column("repo").to_pylist(), strict=True):
                shas.setdefault(name, []).append(sha)
            for name, wanted in shas.items():
                yield from read_blobs(git_dirs[name], name, wanted)

    contents = snapshots.where("kind IN ('file', 'executable')").groupBy("blob_sha").agg({"repo": "min"})
    missing = contents.withColumnRenamed("min(repo)", "repo").join(known.select("blob_sha"), "blob_sha", "left_anti")
    sliced = missing.repartitionByRange(slices, "blob_sha").sortWithinPartitions("blob_sha")
    return sliced.select("blob_sha", "repo").mapInArrow(_reporting(read), spark_schema(BLOBS.columns))


def _by_name(readings: Sequence[Reading]) -> dict[str, Reading]:
    return {reading.repository.name: reading for reading in readings}


def _names(batches: Batches) -> Iterator[str]:
    for batch in batches:
        yield from batch.column("repo").to_pylist()


def _per_repository(spark: "SparkSession", readings: Sequence[Reading]) -> "DataFrame":
    """One task per repository: sizes differ by orders of magnitude, so tasks are what balances them."""
    names = [(reading.repository.name,) for reading in readings]
    return spark.createDataFrame(names, "repo string").repartition(len(names))


def _reporting(read: Callable[[Batches], Batches]) -> Callable[[Batches], Batches]:
    def reporting(batches: Batches) -> Batches:
        try:
            yield from read(batches)
        except LakehouseError as error:
            raise RuntimeError(error.to_wire()) from error

    return reporting
