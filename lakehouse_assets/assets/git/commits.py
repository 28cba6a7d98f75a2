"""The asset `commits`."""

from dagster import AssetExecutionContext, Config, asset

from lakehouse_assets.assets.git.options import git_asset
from lakehouse_assets.assets.readings import few_rows, readings_at_heads
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.sources.keys import git_key
from lakehouse_assets.sources.reads import commits_table
from lakehouse_assets.sources.spark_reads import commits_frame


class CommitsConfig(Config):
    """Commits to read repositories at, by name; a repository that is not named is read at its newest."""

    heads: dict[str, str] = {}  # noqa: RUF012  # a pydantic field


@asset(**git_asset(COMMITS))
def commits(
    context: AssetExecutionContext, config: CommitsConfig, lakehouse: LakehouseResource, spark: SparkResource
) -> Batch:
    """One row per commit reachable from the repository's ref."""
    readings = readings_at_heads(lakehouse, context.partition_keys, config.heads)
    here = few_rows(lakehouse, COMMITS, context.partition_keys)
    return Batch(
        rows=commits_table(readings) if here else commits_frame(spark.spark_session, readings),
        keys=tuple(git_key(COMMITS, reading.repository, reading.head.commit_sha) for reading in readings),
    )
