"""What the assets read from git have in common, so that the lineage picture reads as one group."""

from typing import Any

from lakehouse_assets.assets.options import table_asset
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.sources.keys import git_code_version


def git_asset(contract: TableContract) -> dict[str, Any]:
    """Options of the asset that makes `contract`'s table."""
    return table_asset(contract, group="git", kinds={"git", "deltalake"}, code_version=git_code_version(contract))
