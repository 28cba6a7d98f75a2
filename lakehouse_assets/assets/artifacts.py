"""The lake's own records in the lineage: every write leaves rows in them, and no run makes them by itself.

They have no partitions, so that what is observed of them plots over time: of an asset with partitions Dagster's page
plots the latest number of each partition, and no observation.
"""

from dagster import AssetSpec

from lakehouse_assets.assets.options import OWNERS, table_metadata, table_tags
from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS
from lakehouse_assets.contracts.materializations import MATERIALIZATIONS
from lakehouse_assets.contracts.plans import PLANS
from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.contracts.writes import WRITES

ARTIFACTS = [
    AssetSpec(
        contract.name,
        deps=[GRAPH_VERSIONS.name],
        description=contract.description,
        group_name="artifacts",
        kinds={"deltalake"},
        owners=OWNERS,
        tags=table_tags(contract),
        metadata=table_metadata(contract),
    )
    for contract in (MATERIALIZATIONS, WRITES, QUARANTINE, PLANS)
]
