"""The assets of the scip tables: one step makes all four from the indexes of one repository."""

from collections.abc import Iterator

from dagster import AssetExecutionContext, AssetSpec, DataVersion, MaterializeResult, MetadataValue, multi_asset

from lakehouse_assets.assets.options import OWNERS, POOL, table_metadata, table_tags
from lakehouse_assets.assets.partitions import REPOSITORY_PARTITIONS, repositories_of
from lakehouse_assets.assets.readings import readings_at_commits
from lakehouse_assets.assets.scip.indexing import index_repository
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.extract.scip.rows import SCIP_TABLES
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.failures import explained, partitions_failure
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.scip_import import scip_code_version


# The step writes by itself, in chunks: an index does not fit in a batch. One repository a run: indexers take minutes.
@multi_asset(
    name="scip_indexes",
    specs=[
        AssetSpec(
            contract.name,
            description=contract.description,
            deps=[COMMITS.name],
            group_name="scip",
            kinds={"scip", "deltalake"},
            owners=OWNERS,
            tags=table_tags(contract),
            code_version=scip_code_version(contract),
            metadata=table_metadata(contract),
        )
        for contract in SCIP_TABLES
    ],
    partitions_def=REPOSITORY_PARTITIONS,
    pool=POOL,
)
def scip_indexes(context: AssetExecutionContext, lakehouse: LakehouseResource) -> Iterator[MaterializeResult]:
    """What scip-python and scip-typescript say about the commit, where they are installed."""
    failed = FailedPartitions()
    readings = readings_at_commits(lakehouse, repositories_of(context), failed)
    if failed:
        raise partitions_failure(failed.errors, of=1)
    (reading,) = readings
    with explained():
        done = index_repository(lakehouse.settings, reading, context.run.run_id)
    for name in done.missing:
        context.log.warning(f"{name} is not installed, so its documents stay as they were")
    for contract in SCIP_TABLES:
        versions = [each.data_versions[contract.name] for each in done.imports]
        yield MaterializeResult(
            asset_key=contract.name,
            data_version=DataVersion(versions[-1]) if versions and versions[-1] else None,
            metadata={
                "rows_changed": sum(each.rows[contract.name] for each in done.imports),
                "commit": reading.head.commit_sha,
                "indexers": MetadataValue.text(", ".join(each.indexer for each in done.imports)),
                "not_installed": MetadataValue.text(", ".join(done.missing)),
            },
        )
