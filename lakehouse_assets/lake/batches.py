"""What an asset hands over where its partitions differ: some made anew, some in part, some left as they are."""

from collections.abc import Mapping
from dataclasses import dataclass

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.ledger import Entry
from lakehouse_assets.plan.scope import Scope


@dataclass(frozen=True, kw_only=True)
class Batches:
    """The writes of one asset in one run. No partition is in two of them; `untouched` ones are fresh already."""

    batches: tuple[Batch, ...]
    untouched: tuple[Entry, ...] = ()
    contract: TableContract | None = None
    """Of a table whose columns are known only when its rows are made; others have theirs in the catalog."""
    partitions: Mapping[str, Scope] | None = None
    """By name what the batches' partitions are of such a table; others are partitioned as their assets are."""
