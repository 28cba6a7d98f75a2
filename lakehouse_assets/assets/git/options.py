"""What the assets read from git have in common, so that the lineage picture reads as one group."""

import warnings
from typing import Any

from dagster import BackfillPolicy, BetaWarning

from lakehouse_assets.assets.partitions import REPOSITORY_PARTITIONS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.io_manager import table_schema
from lakehouse_assets.sources.keys import git_code_version

# Single-run backfills are marked beta; the version of Dagster is pinned, and our tests run them.
warnings.filterwarnings("ignore", category=BetaWarning, message=".*backfill_policy.*")


def git_asset(contract: TableContract) -> dict[str, Any]:
    """Options of the asset that makes `contract`'s table."""
    return {
        "name": contract.name,
        "description": contract.description,
        "partitions_def": REPOSITORY_PARTITIONS,
        "backfill_policy": BackfillPolicy.single_run(),
        "code_version": git_code_version(contract),
        "io_manager_key": "delta",
        "group_name": "git",
        "kinds": {"git", "spark", "deltalake"},
        "metadata": {
            "dagster/column_schema": table_schema(contract),
            "dagster/table_name": contract.name,
        },
    }
