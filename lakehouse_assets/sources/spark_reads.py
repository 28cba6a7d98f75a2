"""Reading git on Spark: one job for all repositories of a run, each worker with pygit2.

Invariant: a worker opens repositories for reading only, and an error of ours comes home whole.
Workers see the same folders as the driver; on a cluster the lakehouse's home is on shared storage.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.schemas import spark_schema
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.lake.making import on_worker
from lakehouse_assets.sources.commits import read_commits
from lakehouse_assets.sources.reads import Reading, contents_of
from lakehouse_assets.sources.snapshot import read_snapshot

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Batches = Iterator[pa.RecordBatch]


def commits_frame(spark: "SparkSession", readings: Sequence[Reading]) -> "DataFrame":
    """Rows of `commits` for the readings."""
    by_name = _by_name(readings)

    def read(batches: Batches) -> Batches:
        for name in _names(batches):
            reading = by_name[name]
            yield from read_commits(reading.git_dir, name, reading.head)

    return _per_repository(spark, readings).mapInArrow(on_worker(read), spark_schema(COMMITS.columns))


def snapshots_frame(spark: "SparkSession", readings: Sequence[Reading]) -> "DataFrame":
    """Rows of `snapshots` for the readings."""
    by_name = _by_name(readings)

    def read(batches: Batches) -> Batches:
        for name in _names(batches):
            reading = by_name[name]
            yield from read_snapshot(reading.git_dir, reading.repository, reading.head)

    return _per_repository(spark, readings).mapInArrow(on_worker(read), spark_schema(SNAPSHOTS.columns))


def blobs_frame(missing: "DataFrame", readings: Sequence[Reading], *, slices: int) -> "DataFrame":
    """Rows of `blobs` for the contents that `missing` lists as blob_sha and repo.

    Slices are sorted by sha, so that a later look-up by sha skips most of each file.
    """
    by_name = _by_name(readings)

    def read(batches: Batches) -> Batches:
        for batch in batches:
            yield from contents_of(batch, by_name)

    sliced = missing.repartitionByRange(slices, "blob_sha").sortWithinPartitions("blob_sha")
    return sliced.mapInArrow(on_worker(read), spark_schema(BLOBS.columns))


def _by_name(readings: Sequence[Reading]) -> dict[str, Reading]:
    return {reading.repository.name: reading for reading in readings}


def _names(batches: Batches) -> Iterator[str]:
    for batch in batches:
        yield from batch.column("repo").to_pylist()


def _per_repository(spark: "SparkSession", readings: Sequence[Reading]) -> "DataFrame":
    """One task per repository: sizes differ by orders of magnitude, so tasks are what balances them."""
    names = [(reading.repository.name,) for reading in readings]
    return spark.createDataFrame(names, "repo string").repartition(len(names))
