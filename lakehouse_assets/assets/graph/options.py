"""What the assets of the graph have in common."""

from typing import Any

from lakehouse_assets.assets.graph.derivation_list import derivation
from lakehouse_assets.assets.options import table_asset
from lakehouse_assets.contracts.table import TableContract


def graph_asset(contract: TableContract) -> dict[str, Any]:
    """Options of the asset that makes `contract`'s table."""
    kinds = {"python", "deltalake"}
    return table_asset(contract, group="graph", kinds=kinds, code_version=derivation(contract).code_version)
