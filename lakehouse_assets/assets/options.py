"""What all assets have in common: one asset is one table, partitioned by repository, made in single runs."""

import warnings
from collections.abc import Mapping
from typing import Any

from dagster import AssetOut, AutomationCondition, BackfillPolicy, BetaWarning, MetadataValue

from lakehouse_assets.assets.column_lineage import dagster_lineage, lineage_into, lineage_page
from lakehouse_assets.assets.partitions import REPOSITORY_PARTITIONS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.io_metadata import table_schema
from lakehouse_assets.lake.steps import STEPS
from lakehouse_assets.plan.batching import BatchLimits
from lakehouse_assets.plan.step_page import step_page

# Backfill policies are marked beta; the version of Dagster is pinned, and our tests run them.
warnings.filterwarnings("ignore", category=BetaWarning, message=".*backfill_policy.*")


POOL = "lake"
"""Runs that write the lake share its slots: one on a machine by itself, as many as the cluster bears elsewhere."""

OWNERS = ["team:lakehouse"]

BATCHES = BackfillPolicy.multi_run(max_partitions_per_run=BatchLimits().repositories)
"""A backfill from the UI makes runs of so many repositories; the command's batches are limited by bytes as well."""


def table_asset(contract: TableContract, *, group: str, kinds: set[str], code_version: str) -> dict[str, Any]:
    """Options of the asset that makes `contract`'s table."""
    return {
        "name": contract.name,
        "description": contract.description,
        "partitions_def": REPOSITORY_PARTITIONS,
        "backfill_policy": BATCHES,
        "code_version": code_version,
        "io_manager_key": "delta",
        "pool": POOL,
        "group_name": group,
        "kinds": kinds,
        "owners": OWNERS,
        "tags": table_tags(contract),
        "metadata": table_metadata(contract),
    }


def table_assets(
    code_versions: Mapping[TableContract, str],
    *,
    group: str,
    kinds: set[str],
    automation: AutomationCondition[Any] | None = None,
) -> dict[str, Any]:
    """Options of the assets that one step makes together, each with its code version."""
    return {
        "outs": {
            contract.name: AssetOut(
                description=contract.description,
                io_manager_key="delta",
                group_name=group,
                kinds=kinds,
                owners=OWNERS,
                tags=table_tags(contract),
                code_version=code_version,
                metadata=table_metadata(contract),
                automation_condition=automation,
            )
            for contract, code_version in code_versions.items()
        },
        "partitions_def": REPOSITORY_PARTITIONS,
        "backfill_policy": BATCHES,
        "pool": POOL,
    }


def table_tags(contract: TableContract) -> dict[str, str]:
    """What the catalog can be searched by: how rows are written, and who owns them within a table."""
    return {
        "lakehouse/strategy": contract.strategy,
        "lakehouse/partitioned_by": "-".join(contract.partition_by) or "nothing",
        "lakehouse/rows_owned_by": contract.owner or "nobody",
    }


def table_metadata(contract: TableContract) -> dict[str, Any]:
    """What the UI shows of a table before it is made: columns with descriptions, what they come from, the SQL."""
    shown: dict[str, Any] = {
        "dagster/column_schema": table_schema(contract),
        "dagster/table_name": contract.name,
    }
    if lineage := lineage_into(contract):
        shown["dagster/column_lineage"] = dagster_lineage(lineage)
        shown["column_lineage"] = MetadataValue.md(lineage_page(lineage))
    pages = [step_page(step) for step in STEPS.values() if contract.name in step.assets]
    if pages:
        shown["steps"] = MetadataValue.md("\n".join(f"```sql\n{page}```\n" for page in pages))
    return shown
