"""A batch held still while it is checked, planned and written, in this process or on Spark.

One pass over it tells rows, content and what breaks the contract. A frame on Spark is kept in Spark's store,
memory first and then disk, so that neither the check nor the write computes it again.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.contents import contents_by_partition
from lakehouse_assets.lake.frame_check import frame_check
from lakehouse_assets.lake.frames import frame_of
from lakehouse_assets.lake.outcome import PartitionValues
from lakehouse_assets.lake.row_checks import violations_in
from lakehouse_assets.lake.rows import conform, type_name
from lakehouse_assets.lake.spark_errors import spark_errors
from lakehouse_assets.plan.alignment import check_batch_columns
from lakehouse_assets.plan.row_hash import Content
from lakehouse_assets.plan.sql_text import column
from lakehouse_assets.plan.write_facts import BatchFacts, WriteRequest, needs_keys_only

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Staged(ABC):
    """A staged batch: its facts, and its rows for either executor."""

    facts: BatchFacts

    @abstractmethod
    def contents(self, contract: TableContract) -> dict[PartitionValues, Content]:
        """Content by partition, over the columns of `contract`."""

    @abstractmethod
    def arrow(self, columns: Sequence[str]) -> pa.Table: ...

    def parts(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """The rows, as many at a time as are held together."""
        yield self.arrow(columns)

    @abstractmethod
    def frame(self, spark: "SparkSession") -> "DataFrame": ...

    def passing(self, spark: "SparkSession") -> "DataFrame":
        """The same for one who goes through it once, after which `contents` are known."""
        return self.frame(spark)


@contextmanager
def stage(
    rows: "pa.Table | DataFrame", contract: TableContract, request: WriteRequest
) -> Generator[Staged, None, None]:
    """Hold the rows still; columns that the contract discards are left out from here on."""
    discarded = _discarded(contract, rows.schema.names)
    if isinstance(rows, pa.Table):
        here: pa.Table = rows
        yield LocalStage(here.drop_columns(discarded), contract, request)
        return
    with spark_errors(f"batch for {contract.name}"):
        kept = rows.drop(*discarded).persist()
        try:
            yield SparkStage(kept, contract, request)
        finally:
            kept.unpersist()


class LocalStage(Staged):
    """Rows in this process, checked column by column."""

    def __init__(self, rows: pa.Table, contract: TableContract, request: WriteRequest) -> None:
        self.rows = rows
        columns = {field.name: type_name(field.type) for field in rows.schema}
        _check_columns(contract, columns, request)
        self.facts = BatchFacts(
            columns=columns,
            rows=rows.num_rows,
            violations=violations_in(contract, request, rows),
            in_process=True,
        )

    def contents(self, contract: TableContract) -> dict[PartitionValues, Content]:
        return contents_by_partition(contract, conform(self.rows, contract.columns))

    def arrow(self, columns: Sequence[str]) -> pa.Table:
        return self.rows.select(list(columns))

    def frame(self, spark: "SparkSession") -> "DataFrame":
        return frame_of(spark, self.rows)


class SparkStage(Staged):
    """Rows on Spark, checked in one job."""

    def __init__(self, rows: "DataFrame", contract: TableContract, request: WriteRequest) -> None:
        self.rows = rows
        columns = {field.name: field.dataType.simpleString() for field in rows.schema}
        _check_columns(contract, columns, request)
        self._contents, violations = frame_check(contract, request, rows, columns)
        self.facts = BatchFacts(
            columns=columns,
            rows=sum(content.rows for content in self._contents.values()),
            violations=violations,
        )

    def contents(self, contract: TableContract) -> dict[PartitionValues, Content]:
        return self._contents

    def arrow(self, columns: Sequence[str]) -> pa.Table:
        return self.rows.select(*[column(name, "spark") for name in columns]).toArrow()

    def frame(self, spark: "SparkSession") -> "DataFrame":
        return self.rows


def _check_columns(contract: TableContract, columns: Mapping[str, str], request: WriteRequest) -> None:
    missing = [name for name in (*contract.partition_by, *contract.key) if name not in columns]
    if missing:
        raise BadInputError(
            subject=f"write to {contract.name}",
            seen=f"the batch lacks {', '.join(dict.fromkeys(missing))}",
            why="nothing was written, because without them a row has no place and no name",
            remedy="bring every column of the key and of the partitions",
        )
    check_batch_columns(contract, columns, keys_only=needs_keys_only(request))


def _discarded(contract: TableContract, names: Sequence[str]) -> list[str]:
    if contract.schema_policy != "discard":
        return []
    return [name for name in names if name not in contract.column_names]
