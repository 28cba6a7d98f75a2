"""Rows appended to a table of ours that answers for others (`writes`): one file, one log entry.

The table stays open between appends, for a run makes a score of them and reading its log takes longer than all else.
An append reads no row, so that of what others have committed since only the number is needed.
"""

from dataclasses import dataclass
from threading import Lock

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.commit_log import brought_up, commit, is_plain, newest_version
from lakehouse_assets.lake.concurrency import retried
from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.lake.table_columns import add_columns
from lakehouse_assets.lake.table_files import TableFolder
from lakehouse_assets.lake.tables import Lake, entry_identity


@dataclass(kw_only=True)
class _Appended:
    """A plain table that has the contract's columns, and the version it was at last, by the identity of its entry."""

    table: DeltaTable
    folder: TableFolder
    version: int
    entry: tuple[int, int] | None

    def is_there(self) -> bool:
        return self.entry is not None and entry_identity(self.folder.path, self.version) == self.entry


_held: dict[LakePath, _Appended] = {}
"""The table that was appended to last."""
_appending = Lock()


def append_rows(lake: Lake, contract: TableContract, rows: pa.Table) -> int | None:
    """Append, and give the version; None if an engine did it. The file is written once, however often another writer's
    commit comes between."""
    with _appending:
        held = _opened(lake, contract)
        if held is None:
            retried(f"table {contract.name}", lambda: write_deltalake(lake.ensure(contract), rows, mode="append"))
            return None
        folder = held.folder
        adds = [file.add() for file in folder.write(folder.whole(rows))]

        def attempt() -> int:
            newest = newest_version(folder.path, held.version)
            if newest is None:
                brought_up(held.table, folder.path)
                newest = held.table.version()
            metrics = {"numOutputRows": rows.num_rows}
            return commit(held.table, folder.path, adds, operation="WRITE", metrics=metrics, after=newest)

        held.version = retried(f"table {contract.name}", attempt)
        held.entry = entry_identity(folder.path, held.version)
        return held.version


def _opened(lake: Lake, contract: TableContract) -> _Appended | None:
    """The table, made ready for rows; None if it has what only the engines know to write."""
    path = lake.path(contract)
    held = _held.get(path)
    if held is not None and held.is_there() and newest_version(path, held.version) is not None:
        return held
    _held.clear()
    table = lake.ensure(contract)
    there = {field.name for field in table.schema().fields}
    add_columns(table, [(each.name, each.type) for each in contract.columns if each.name not in there])
    if not is_plain(table):
        return None
    folder = TableFolder.of(table, path, contract)
    _held[path] = _Appended(table=table, folder=folder, version=table.version(), entry=None)
    return _held[path]
