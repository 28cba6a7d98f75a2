"""The asset `blobs`."""

from dagster import AssetExecutionContext, AssetIn, asset
from pyspark.sql import DataFrame

from lakehouse_assets.assets.git.options import git_asset
from lakehouse_assets.assets.readings import readings_at_commits
from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.io_manager import COLUMNS
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.sources.keys import git_key
from lakehouse_assets.sources.spark_reads import blobs_frame


@asset(**git_asset(BLOBS), ins={"snapshots": AssetIn(metadata={COLUMNS: ["repo", "blob_sha", "kind"]})})
def blobs(
    context: AssetExecutionContext, snapshots: DataFrame, lakehouse: LakehouseResource, spark: SparkResource
) -> Batch:
    """One row per blob sha across all repositories, branches and forks."""
    readings = readings_at_commits(lakehouse, context.partition_keys)
    lakehouse.lake.ensure(BLOBS)
    known = spark.spark_session.read.format("delta").load(str(lakehouse.lake.path(BLOBS)))
    return Batch(
        rows=blobs_frame(snapshots, known, readings, slices=lakehouse.settings.cores),
        keys=tuple(git_key(BLOBS, reading.repository, reading.head.commit_sha) for reading in readings),
    )
