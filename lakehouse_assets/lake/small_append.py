"""Rows appended to a table of ours that answers for others (`writes`): one file, one log entry."""

import pyarrow as pa
from deltalake import write_deltalake

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.commit_log import brought_up, commit, is_plain
from lakehouse_assets.lake.concurrency import retried
from lakehouse_assets.lake.table_columns import add_columns
from lakehouse_assets.lake.table_files import TableFolder
from lakehouse_assets.lake.tables import Lake


def append_rows(lake: Lake, contract: TableContract, rows: pa.Table) -> None:
    """Append; the file is written once, however often another writer's commit comes between."""
    table = lake.ensure(contract)
    there = {field.name for field in table.schema().fields}
    add_columns(table, [(each.name, each.type) for each in contract.columns if each.name not in there])
    if not is_plain(table):
        retried(f"table {contract.name}", lambda: write_deltalake(lake.ensure(contract), rows, mode="append"))
        return
    folder = TableFolder.of(table, lake.path(contract), contract)
    adds = [file.add() for file in folder.write(folder.whole(rows))]

    def attempt() -> None:
        brought_up(table, folder.path)
        commit(table, folder.path, adds, operation="WRITE", metrics={"numOutputRows": rows.num_rows})

    retried(f"table {contract.name}", attempt)
