"""What an asset hands to the IO manager: rows, and the key of each partition they are the rows of."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakehouse_assets.plan.staleness import MaterializationKey

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, kw_only=True)
class Batch:
    """All rows of the partitions that `keys` names; a partition without rows is empty, not untouched."""

    frame: "DataFrame"
    keys: tuple[MaterializationKey, ...]
