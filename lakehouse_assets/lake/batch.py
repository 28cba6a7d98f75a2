"""What an asset hands to the IO manager: rows, and what they are the rows of."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lakehouse_assets.contracts.table import Strategy
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.plan.staleness import MaterializationKey

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    RecordBatches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, kw_only=True)
class WorkerRows:
    """Many rows that Spark's workers make and check, and Spark writes; this process sees only what they tell of them.

    `produce` is what `mapInArrow` takes: it gets the batches of `items` that one task has, and yields batches of
    the contract's columns. Items have the columns of the partition and the owner, of a table without owners those
    of the key: by these they are dealt, so that each task can answer for its keys alone. Rows are of the owners of
    their items, and all rows of an owner come one after the other.
    """

    items: "DataFrame"
    produce: "Callable[[RecordBatches], RecordBatches]"


@dataclass(frozen=True, kw_only=True)
class StreamedRows:
    """Rows that come into this process batch by batch, in the contract's columns, and are never all in it.

    Many of them are written as data files while they come, and the commit only names these.
    """

    batches: "RecordBatches"


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Rows of the partitions that `keys` names.

    Without `owners` they are all rows of these partitions: what is missing is gone. With `owners` they are all
    rows of these owners. With no owner at all (an empty tuple) they replace the keys they have.
    """

    rows: "pa.Table | DataFrame | WorkerRows | StreamedRows"
    """A table for what fits this process, a frame for what Spark computes, workers' rows for what is built by code, a
    stream for what comes from elsewhere."""
    keys: tuple[MaterializationKey, ...]
    owners: tuple[str, ...] | None = None
    strategy: Strategy | None = None
    """Another strategy than the contract's."""
    subject: str = ""
    """Whose query made the rows, to be told where one of them makes it fail; without it, the table's."""
    quiet: bool = False
    """Whether such a message may not repeat values."""
    reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    """Why an owner's rows were made anew, as far as that is more than a change of its own."""
    since: Mapping[str, str] = field(default_factory=dict[str, str])
    """By partition the cursor that the rows go on from: the write is refused if another run has moved it meanwhile."""
    if_changed: bool = False
    """Whether a write that changes no row is left undone: no commit, no entry in the ledger, no row of `writes`. For
    who asks often, finds nothing new, and whose cursor would say no more than the one that is there."""
    part: "Callable[[Sequence[str]], Batch] | None" = None
    """The same for some of the partitions, where that is more than leaving out rows of a table in this process."""

    def only(self, partitions: Sequence[str], column: str | None) -> "Batch":
        """The batch for some of its partitions, which `column` has the names of."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if len(partitions) == len(self.keys):
            return self
        if self.part is not None:
            return self.part(partitions)
        rows: Any = self.rows
        if not isinstance(rows, pa.Table) or column is None:
            raise BadInputError(
                subject=f"batch of {len(self.keys)} partitions",
                seen="its rows cannot be told apart by partition",
                why="one bad partition would have to be left out",
                remedy="give the batch a `part`",
            )
        return replace(
            self,
            rows=rows.filter(pc.field(column).isin(list(partitions))),
            keys=tuple(key for key in self.keys if key.partition in partitions),
            since={name: cursor for name, cursor in self.since.items() if name in partitions},
        )
