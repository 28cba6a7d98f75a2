"""All contracts, by table name, in the order of the data's way."""

from collections.abc import Mapping
from types import MappingProxyType

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.materializations import MATERIALIZATIONS
from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.contracts.repositories import REPOSITORIES
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.contracts.writes import WRITES

CATALOG: Mapping[str, TableContract] = MappingProxyType(
    {
        contract.name: contract
        for contract in (REPOSITORIES, COMMITS, SNAPSHOTS, BLOBS, MATERIALIZATIONS, WRITES, QUARANTINE)
    }
)
