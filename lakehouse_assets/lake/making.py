"""Rows made from work by a pure function: in this process if the work is here, on workers if it is on Spark."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.lake.batch import WorkerRows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    Rows = pa.Table | DataFrame | WorkerRows

_BYTES_AT_ONCE = 512 * 1024
"""Of work in this process. Its payloads are packed, and the rows made of them are many times larger."""

Function = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def on_worker(function: Function) -> Function:
    """The function as `mapInArrow` takes it: Spark hands home the text of a traceback only, and ours is in it whole."""

    def told(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            yield from function(batches)
        except LakehouseError as error:
            raise RuntimeError(error.to_wire()) from error

    return told


def made(contract: TableContract, work: "pa.Table | DataFrame", function: Function) -> "Rows":
    """The rows of `contract` that `function` makes of the work."""
    if isinstance(work, pa.Table):
        return pa.Table.from_batches(function(_in_slices(work)), schema=arrow_schema(contract.columns))
    return WorkerRows(items=work, produce=function)


def _in_slices(work: pa.Table) -> Iterator[pa.RecordBatch]:
    """The work piece by piece: what the function holds beside its rows is then the same for any number of files."""
    for batch in work.to_batches():
        rows = max(1, batch.num_rows * _BYTES_AT_ONCE // max(1, batch.nbytes))
        for first in range(0, batch.num_rows, rows):
            yield batch.slice(first, rows)
