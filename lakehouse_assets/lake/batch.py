"""What an asset hands to the IO manager: rows, and what they are the rows of."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lakehouse_assets.contracts.table import Strategy
from lakehouse_assets.plan.staleness import MaterializationKey

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    RecordBatches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, kw_only=True)
class WorkerRows:
    """Many rows that Spark's workers make, check and write themselves; this process sees only what they tell of them.

    `produce` is what `mapInArrow` takes: it gets the batches of `items` that one task has, and yields batches of
    the contract's columns. All rows of an owner come from one task and one after the other, so that each task
    can answer for its keys alone. Items that come in the order of the owner make files that later writes pass
    over: `items.repartitionByRange(slices, "repo", "path").sortWithinPartitions("repo", "path")`.
    """

    items: "DataFrame"
    produce: "Callable[[RecordBatches], RecordBatches]"


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Rows of the partitions that `keys` names.

    Without `owners` they are all rows of these partitions: what is missing is gone. With `owners` they are all
    rows of these owners. With no owner at all (an empty tuple) they replace the keys they have.
    """

    rows: "pa.Table | DataFrame | WorkerRows"
    """A table for what fits this process, a frame for what Spark computes, workers' rows for what is built by code."""
    keys: tuple[MaterializationKey, ...]
    owners: tuple[str, ...] | None = None
    strategy: Strategy | None = None
    """Another strategy than the contract's."""
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    """Why an owner's rows were made anew, as far as that is more than a change of its own."""
    since: Mapping[str, str] = field(default_factory=dict[str, str])
    """By partition the cursor that the rows go on from: the write is refused if another run has moved it meanwhile."""
