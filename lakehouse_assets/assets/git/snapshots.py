"""The asset `snapshots`."""

from dagster import AssetExecutionContext, asset

from lakehouse_assets.assets.git.commits import commits
from lakehouse_assets.assets.git.options import git_asset
from lakehouse_assets.assets.readings import few_rows, readings_at_commits
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.sources.keys import git_key
from lakehouse_assets.sources.reads import snapshots_table
from lakehouse_assets.sources.spark_reads import snapshots_frame


@asset(**git_asset(SNAPSHOTS), deps=[commits])
def snapshots(context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource) -> Batch:
    """One row per file at the head commit."""
    readings = readings_at_commits(lakehouse, context.partition_keys)
    here = few_rows(lakehouse, SNAPSHOTS, context.partition_keys)
    return Batch(
        rows=snapshots_table(readings) if here else snapshots_frame(spark.spark_session, readings),
        keys=tuple(git_key(SNAPSHOTS, reading.repository, reading.head.commit_sha) for reading in readings),
    )
