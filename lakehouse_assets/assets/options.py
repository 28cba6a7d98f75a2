"""The assets' options, from the recipes of their tables."""

import warnings
from collections.abc import Sequence
from typing import Any

from dagster import (
    AllPartitionMapping,
    AssetDep,
    AssetKey,
    AssetOut,
    AutomationCondition,
    BackfillPolicy,
    BetaWarning,
    MetadataValue,
)

from lakehouse_assets.assets.column_lineage import dagster_lineage, lineage_into, lineage_page
from lakehouse_assets.assets.partitions import MONTHS, REPOSITORY_PARTITIONS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.io_metadata import table_schema
from lakehouse_assets.lake.steps import STEPS
from lakehouse_assets.plan.batching import BatchLimits
from lakehouse_assets.plan.step_page import step_page
from lakehouse_assets.recipes.catalog import RECIPES
from lakehouse_assets.recipes.recipe import Recipe

# Backfill policies are marked beta; the version of Dagster is pinned, and our tests run them.
warnings.filterwarnings("ignore", category=BetaWarning, message=".*backfill_policy.*")


POOL = "lake"
"""Runs that write the lake share its slots: one on a machine by itself, as many as the cluster bears elsewhere."""

OWNERS = ["team:lakehouse"]

BATCHES = BackfillPolicy.multi_run(max_partitions_per_run=BatchLimits().repositories)
"""A backfill from the UI makes runs of so many repositories; the command's batches are limited by bytes as well."""

MONTHS_A_RUN = 120
"""Rows of ten years are in the memory of a run that makes them for the first time."""

MONTH_BATCHES = BackfillPolicy.multi_run(max_partitions_per_run=MONTHS_A_RUN)


def table_asset(recipe: Recipe) -> dict[str, Any]:
    """Options of the asset that makes the recipe's table."""
    contract = recipe.contract
    return {
        "name": contract.name,
        "description": contract.description,
        "deps": _deps([recipe]),
        **_partitions(recipe),
        "code_version": recipe.code_version,
        "io_manager_key": "delta",
        "pool": POOL,
        "group_name": recipe.group,
        "kinds": recipe.kinds,
        "owners": OWNERS,
        "tags": table_tags(contract),
        "metadata": table_metadata(contract),
    }


def table_assets(recipes: Sequence[Recipe], *, automation: AutomationCondition[Any] | None = None) -> dict[str, Any]:
    """Options of the assets that one step makes, any of them by itself."""
    return {
        "name": recipes[0].step,
        "outs": {
            each.name: AssetOut(
                description=each.contract.description,
                is_required=False,
                io_manager_key="delta",
                group_name=each.group,
                kinds=set(each.kinds),
                owners=OWNERS,
                tags=table_tags(each.contract),
                code_version=each.code_version,
                metadata=table_metadata(each.contract),
                automation_condition=automation,
            )
            for each in recipes
        },
        "deps": _deps(recipes),
        "internal_asset_deps": {each.name: {AssetKey(dep.name) for dep in each.deps} for each in recipes},
        "can_subset": True,
        **_partitions(recipes[0]),
        "pool": POOL,
    }


def _deps(recipes: Sequence[Recipe]) -> list[AssetDep]:
    """A month is made of all repositories, and of the same month of other tables."""
    alike = {dep.name: RECIPES[dep.name].partitions == each.partitions for each in recipes for dep in each.deps}
    return [AssetDep(name, partition_mapping=None if alike[name] else AllPartitionMapping()) for name in alike]


def _partitions(recipe: Recipe) -> dict[str, Any]:
    match recipe.partitions:
        case "repository":
            return {"partitions_def": REPOSITORY_PARTITIONS, "backfill_policy": BATCHES}
        case "month":
            return {"partitions_def": MONTHS, "backfill_policy": MONTH_BATCHES}


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
