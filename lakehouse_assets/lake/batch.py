"""What an asset hands to the IO manager: rows, and what they are the rows of."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakehouse_assets.contracts.table import Strategy
from lakehouse_assets.plan.staleness import MaterializationKey

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Rows of the partitions that `keys` names.

    Without `owners` they are all rows of these partitions: what is missing is gone. With `owners` they are all
    rows of these owners. With no owner at all (an empty tuple) they replace the keys they have.
    """

    rows: "pa.Table | DataFrame"
    keys: tuple[MaterializationKey, ...]
    owners: tuple[str, ...] | None = None
    strategy: Strategy | None = None
    """Another strategy than the contract's."""
