"""Rows appended to a table of ours that answers for others (`writes`): one file, one log entry.

The table stays open between appends, for a run makes a score of them and reading its log takes longer than all else.
An append reads no row, so that a table that others have moved on is only brought up.
"""

from pathlib import Path
from threading import Lock

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.commit_log import brought_up, commit, is_plain
from lakehouse_assets.lake.concurrency import retried
from lakehouse_assets.lake.table_columns import add_columns
from lakehouse_assets.lake.table_files import TableFolder
from lakehouse_assets.lake.tables import Lake, LogEnd

_held: dict[Path, LogEnd] = {}
"""The table that was appended to last."""
_appending = Lock()


def append_rows(lake: Lake, contract: TableContract, rows: pa.Table) -> None:
    """Append; the file is written once, however often another writer's commit comes between."""
    with _appending:
        table = _opened(lake, contract)
        _append(lake, contract, table, rows)
        _held.clear()
        _held[lake.path(contract)] = LogEnd.of(table, lake.path(contract))


def _opened(lake: Lake, contract: TableContract) -> DeltaTable:
    path = lake.path(contract)
    held = _held.get(path)
    if held is None or not held.stands(path):
        return lake.ensure(contract)
    brought_up(held.table, path)
    return held.table


def _append(lake: Lake, contract: TableContract, table: DeltaTable, rows: pa.Table) -> None:
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
