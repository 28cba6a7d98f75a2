"""What the assets of changes have in common."""

from typing import Any

from lakehouse_assets.assets.graph.derivation_list import derivation
from lakehouse_assets.assets.options import table_asset
from lakehouse_assets.contracts.table import TableContract


def change_asset(contract: TableContract) -> dict[str, Any]:
    """Options of the asset that makes `contract`'s table."""
    kinds = {"python", "sql", "deltalake"}
    return table_asset(contract, group="change", kinds=kinds, code_version=derivation(contract).code_version)
