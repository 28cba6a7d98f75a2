"""Appends records to tables that only ever grow: what was done, each row naming whose doing it was."""

import pyarrow as pa
from deltalake import write_deltalake

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.concurrency import retried
from lakehouse_assets.lake.table_columns import add_columns
from lakehouse_assets.lake.tables import Lake

TOGETHER = 500
"""Versions after which the files are written together: each append comes in a file of its own, and all are read."""


def append_rows(lake: Lake, contract: TableContract, rows: pa.Table) -> None:
    """Append records that nobody else has: each names its run."""

    def attempt() -> None:
        table = lake.taken(contract)
        there = {each.name for each in table.schema().fields}
        add_columns(table, [(each.name, each.type) for each in contract.columns if each.name not in there])
        write_deltalake(table, rows, mode="append")
        if table.version() % TOGETHER == 0:
            table.optimize.compact()
        lake.give_back(contract, table)

    retried(lake, contract, attempt)
