"""A frame that Spark computes, handed to workers who write it as data files, where it will be compared with a table.

A MERGE by Spark joins and rewrites in the JVM, row by row; workers compare the same rows column by column, slice by
slice, in a fraction of that.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
from deltalake import DeltaTable

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.batch import WorkerRows
from lakehouse_assets.lake.commit_log import is_plain
from lakehouse_assets.lake.making import in_order
from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.worker_stage import FileStage, worker_stage
from lakehouse_assets.plan.pruning import touched_files
from lakehouse_assets.plan.slices import can_be_cut
from lakehouse_assets.plan.write_facts import WriteRequest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def is_for_workers(frame: "DataFrame", contract: TableContract, request: WriteRequest, table: DeltaTable) -> bool:
    """Whether the frame will be compared with rows of the table, and can be in slices.

    It has to have the contract's columns, and no others: what is wrong with them is told where frames are checked.
    """
    if request.strategy != "upsert" or contract.violations == "quarantine" or not can_be_cut(contract):
        return False
    types = {field.name: field.dataType.simpleString() for field in frame.schema}
    if types != {each.name: each.type for each in contract.columns} or not is_plain(table):
        return False
    return bool(touched_files(table_facts(table, contract).files, request.scopes, request.owners or None))


@contextmanager
def frame_stage(
    frame: "DataFrame", contract: TableContract, request: WriteRequest, folder: LakePath, *, run_id: str
) -> Generator[FileStage, None, None]:
    """Let workers write the frame. It is kept meanwhile, because putting it in order looks at it twice."""
    kept = frame.persist()
    try:
        rows = WorkerRows(items=in_order(kept, contract), produce=_as_they_are)
        with worker_stage(rows, contract, request, folder, run_id=run_id) as staged:
            yield staged
    finally:
        kept.unpersist()


def _as_they_are(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return batches
