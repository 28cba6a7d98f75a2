"""What an asset hands over where its partitions differ: some made anew, some in part, some left as they are."""

from dataclasses import dataclass

from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.ledger import Entry


@dataclass(frozen=True, kw_only=True)
class Batches:
    """The writes of one asset in one run. No partition is in two of them; `untouched` ones are fresh already."""

    batches: tuple[Batch, ...]
    untouched: tuple[Entry, ...] = ()
