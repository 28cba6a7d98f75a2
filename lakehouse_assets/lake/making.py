"""Rows made from work by a pure function: in this process if the work is here, on workers if it is on Spark."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_schema, spark_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.batch import WorkerRows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    Rows = pa.Table | DataFrame | WorkerRows

Function = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def made(contract: TableContract, work: "pa.Table | DataFrame", function: Function) -> "Rows":
    """The rows of `contract` that `function` makes of the work."""
    if isinstance(work, pa.Table):
        here: pa.Table = work
        return pa.Table.from_batches(function(iter(here.to_batches())), schema=arrow_schema(contract.columns))
    if contract.owner is None:
        return work.mapInArrow(function, spark_schema(contract.columns))
    # In the order of files, so that later writes pass over most of what the workers write.
    order = [*contract.partition_by, contract.owner]
    slices = work.sparkSession.conf.get("spark.sql.shuffle.partitions")
    items = work.repartitionByRange(int(slices or 1), *order).sortWithinPartitions(*order)
    return WorkerRows(items=items, produce=function)
