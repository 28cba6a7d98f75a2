"""Rows made from work by a pure function: in this process if the work is here, on workers if it is on Spark."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_schema, spark_schema
from lakehouse_assets.contracts.table import TableContract

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    Rows = pa.Table | DataFrame

Function = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def made(contract: TableContract, work: "pa.Table | DataFrame", function: Function) -> "Rows":
    """The rows of `contract` that `function` makes of the work."""
    if isinstance(work, pa.Table):
        here: pa.Table = work
        return pa.Table.from_batches(function(iter(here.to_batches())), schema=arrow_schema(contract.columns))
    return work.mapInArrow(function, spark_schema(contract.columns))
