"""What an asset hands over where its partitions differ: some made anew, some in part, some left as they are."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import pyarrow as pa

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.failed_partitions import FailedPartitions
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
    writing: Callable[[], AbstractContextManager[None]] = nullcontext
    """Gives a scope that is open while they are written, for one who has to know if that fails."""
    failed: FailedPartitions = field(default_factory=FailedPartitions)
    """Partitions that could not be made. The IO manager adds those whose rows are refused."""


def joined(batches: Sequence[Batch]) -> tuple[Batch, ...]:
    """The same in as few writes as can be: tables that replace whole partitions become one, and so do those that
    replace only the keys they have. Named owners speak for all partitions of a batch, so that those stay apart."""
    apart = [batch for batch in batches if batch.owners or not isinstance(batch.rows, pa.Table)]
    for owners in (None, ()):
        alike = [batch for batch in batches if batch.owners == owners and isinstance(batch.rows, pa.Table)]
        if alike:
            apart.append(
                Batch(
                    rows=pa.concat_tables([batch.rows for batch in alike]),  # pyright: ignore[reportArgumentType]
                    keys=tuple(key for batch in alike for key in batch.keys),
                    owners=owners,
                    since={name: cursor for batch in alike for name, cursor in batch.since.items()},
                )
            )
    return tuple(apart)
