"""The asset `blobs`."""

import pyarrow as pa
from dagster import AssetExecutionContext, AssetIn, asset

from lakehouse_assets.assets.git.options import git_asset
from lakehouse_assets.assets.readings import readings_at_commits
from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.io_manager import COLUMNS
from lakehouse_assets.lake.missing_contents import are_few, missing_contents
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.sources.keys import git_key
from lakehouse_assets.sources.reads import blobs_table
from lakehouse_assets.sources.spark_reads import blobs_frame


@asset(**git_asset(BLOBS), ins={"snapshots": AssetIn(metadata={COLUMNS: ["repo", "blob_sha", "kind", "size"]})})
def blobs(
    context: AssetExecutionContext, snapshots: pa.Table, lakehouse: LakehouseResource, spark: SparkResource
) -> Batch:
    """One row per blob sha across all repositories, branches and forks."""
    readings = readings_at_commits(lakehouse, context.partition_keys)
    missing = missing_contents(lakehouse.lake, snapshots)
    slices = lakehouse.settings.cores
    return Batch(
        rows=blobs_table(missing, readings)
        if are_few(missing)
        else blobs_frame(spark.spark_session, missing, readings, slices=slices),
        keys=tuple(git_key(BLOBS, reading.repository, reading.head.commit_sha) for reading in readings),
    )
