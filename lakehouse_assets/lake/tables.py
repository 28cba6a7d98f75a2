"""Where tables are and what their logs say, read with delta-rs: no JVM, no scan.

Invariant: a table is made from its contract alone. A folder that is there without a readable log
is an error, never an empty table: taking it for one would turn the next write into a loss.
"""

import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import CommitFailedError, DeltaError

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.core.settings import StorePlace
from lakehouse_assets.lake.commit_log import actions_of, has_log, log_entry
from lakehouse_assets.lake.local_sql import read_object_stores
from lakehouse_assets.lake.object_path import LakePath, ObjectPath
from lakehouse_assets.lake.spark_errors import delta_errors
from lakehouse_assets.plan.file_statistics import with_statistics
from lakehouse_assets.plan.sql_text import column


@dataclass(frozen=True, kw_only=True)
class TableSize:
    """What the log says of a table's current version; rows are None if a file has no statistics."""

    rows: int | None
    files: int
    bytes: int
    version: int


TARGET_FILE_BYTES = 1024 * 1024
LOG_CLEANUP = "delta.enableExpiredLogCleanup"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_PRESENT = 64


def entry_identity(path: LakePath, version: int) -> tuple[int, int] | None:
    """What tells a version's log entry from that of another table in its place; None if there is none."""
    try:
        facts = log_entry(path, version).stat()
    except FileNotFoundError:
        return None
    return facts.st_ino, facts.st_mtime_ns


@dataclass(frozen=True, kw_only=True)
class _Present:
    """An open table, with the identity of its version's log entry."""

    table: DeltaTable
    version: int
    entry: tuple[int, int] | None

    @staticmethod
    def of(table: DeltaTable, path: LakePath) -> "_Present":
        version = table.version()
        return _Present(table=table, version=version, entry=entry_identity(path, version))

    def is_there(self, path: LakePath) -> bool:
        return self.entry is not None and entry_identity(path, self.version) == self.entry

    def is_newest(self, path: LakePath) -> bool:
        return self.is_there(path) and not log_entry(path, self.version + 1).exists()

    def is_held_here_alone(self) -> bool:
        """Whether nobody would see it move on: there are this reference and the one that asking makes."""
        return sys.getrefcount(self.table) == 2


_present: dict[LakePath, _Present] = {}


class Lake:
    """The folder of tables."""

    def __init__(self, root: LakePath | StorePlace) -> None:
        self.root: LakePath = ObjectPath(root.url, root.machine) if isinstance(root, StorePlace) else root
        if isinstance(self.root, ObjectPath):
            read_object_stores()

    @property
    def locks(self) -> Path:
        """The folder of this machine where those who write here wait for each other."""
        return self.root if isinstance(self.root, Path) else self.root.machine

    def path(self, contract: TableContract) -> LakePath:
        return self.root / contract.name

    def exists(self, contract: TableContract) -> bool:
        """Whether the table has been made; a folder with data but no log is refused."""
        path = self.path(contract)
        held = _present.get(path)
        if held is not None and held.is_there(path):
            return True
        if has_log(path):
            return True
        if not any(path.rglob("*.parquet")):
            return False
        # A log is made before the first file of its table: these may be of one that another writer made meanwhile.
        if has_log(path):
            return True
        raise LakeStateError(
            subject=f"table {contract.name}",
            seen=f"{path} has data files but no Delta log",
            why="the log says which files are rows; without it, a write would orphan or overwrite them",
            remedy="restore the folder's _delta_log from a backup, or move the folder away to build the table anew",
        )

    def open(self, contract: TableContract) -> DeltaTable:
        try:
            table = DeltaTable(str(self.path(contract)))
        except DeltaError as error:
            raise self._unreadable(contract, str(error).splitlines()[0]) from error  # behind it is its backtrace
        self._refuse_emptied(contract, table)
        return table

    def _refuse_emptied(self, contract: TableContract, table: DeltaTable) -> None:
        newest = log_entry(self.path(contract), table.version())
        with suppress(FileNotFoundError):  # a checkpoint may have taken its place
            if not newest.stat().st_size:
                # Delta-rs takes it for a commit that changed nothing; it is one whose content was lost.
                raise self._unreadable(contract, f"{newest.name} is empty")

    def _unreadable(self, contract: TableContract, seen: str) -> LakeStateError:
        return LakeStateError(
            subject=f"table {contract.name}",
            seen=f"its Delta log at {self.path(contract)} cannot be read: {seen}",
            why="rows can be neither trusted nor changed without it",
            remedy="restore the log from a backup; or move the folder away, and `lakehouse sync` builds the table anew",
        )

    def ensure(self, contract: TableContract) -> DeltaTable:
        """The table, made empty if it is not there yet."""
        if not self.exists(contract):
            self._make(contract)
        return self.open(contract)

    def present(self, contract: TableContract) -> DeltaTable:
        """The table as it is now, made empty if it is not there yet, to be read only: others of this process hold the
        same, so whoever moves one to another version opens or takes one of his own.

        A run asks some hundred times for a score of tables; two looks at the log tell whether one is still at its end.
        """
        path = self.path(contract)
        held = _present.pop(path, None)
        if held is None or not held.is_newest(path):
            held = _Present.of(self._moved_on(contract, held) or self.ensure(contract), path)
        _keep(path, held)
        return held.table

    def taken(self, contract: TableContract) -> DeltaTable:
        """The table as it is now, made empty if there is none, for one who moves it on himself and gives it back."""
        return self.taken_if_there(contract) or self.ensure(contract)

    def taken_if_there(self, contract: TableContract) -> DeltaTable | None:
        """As `taken`; None if there is no table."""
        path = self.path(contract)
        held = _present.pop(path, None)
        if held is not None and held.is_newest(path) and held.is_held_here_alone():
            return held.table
        return self._moved_on(contract, held) or (self.open(contract) if self.exists(contract) else None)

    def give_back(self, contract: TableContract, table: DeltaTable) -> None:
        """Let others read a table that was taken, or opened, and that nobody is going to move on any more."""
        path = self.path(contract)
        _keep(path, _Present.of(table, path))

    def _moved_on(self, contract: TableContract, held: _Present | None) -> DeltaTable | None:
        """One that was open, brought up to the newest version: that reads what is new in the log, opening reads all.

        None if it can't be, be it that someone reads it, or that the folder has another table since.
        """
        path = self.path(contract)
        if held is None or not held.is_there(path) or not held.is_held_here_alone():
            return None
        try:
            held.table.update_incremental()
        except DeltaError:
            return None  # entries that it needs may have given way to a checkpoint: opening it tells
        if log_entry(path, held.table.version() + 1).exists():
            return None
        self._refuse_emptied(contract, held.table)
        return held.table

    def _make(self, contract: TableContract) -> None:
        self.path(contract).parent.mkdir(parents=True, exist_ok=True)
        try:
            DeltaTable.create(
                str(self.path(contract)),
                schema=_described(contract),
                mode="ignore",
                partition_by=list(contract.partition_by),
                name=contract.name,
                description=contract.description,
                configuration={
                    "delta.enableChangeDataFeed": "true",
                    "delta.enableDeletionVectors": "false",
                    # Engines would drop log entries by age; only a vacuum knows who still reads them.
                    LOG_CLEANUP: "false",
                    # Who opens the table reads the entries behind the last checkpoint, a thread for each.
                    "delta.checkpointInterval": "25",
                    # Bounds what one changed row makes a write rewrite, whatever the table's size.
                    "delta.targetFileSize": str(TARGET_FILE_BYTES),
                    # Replays are noticed by their transaction; a month covers any run that is worth repeating.
                    "delta.setTransactionRetentionDuration": "interval 30 days",
                    "delta.dataSkippingStatsColumns": ",".join(
                        _listed(each.name) for each in with_statistics(contract)
                    ),
                },
            )
        except CommitFailedError:
            if not self.exists(contract):
                raise  # else another writer made it at the same time, from the same contract

    def read(
        self,
        contract: TableContract,
        *,
        columns: Sequence[str] | None = None,
        where: str = "TRUE",
        version: int | None = None,
    ) -> pa.Table:
        """Rows in Arrow, now or at a version; of a table that is not there yet, none.

        By delta-rs's own engine: `pyarrow.dataset` would load pandas, which takes longer than the read.
        """
        names = tuple(columns or contract.column_names)
        schema = arrow_schema(contract.column(name) for name in names)
        if not self.exists(contract):
            return pa.Table.from_batches([], schema=schema)
        with delta_errors(f"table {contract.name}"):
            table = self.present(contract)
            if version is not None and version != table.version():
                table = self.open(contract)
                table.load_as_version(version)
            there = {field.name for field in table.schema().fields}
            quoted = {name: column(name, "datafusion") for name in names}
            # A table that was made by an earlier contract may lack a column that can be NULL.
            chosen = ", ".join(
                quoted[each.name] if each.name in there or not each.nullable else f"NULL AS {quoted[each.name]}"
                for each in map(contract.column, names)
            )
            query = f"SELECT {chosen} FROM rows WHERE {where}"
            reader = QueryBuilder().register("rows", table).execute(query)
            return pa.RecordBatchReader.from_stream(reader).read_all().cast(schema)

    def rows(
        self, contract: TableContract, *, columns: Sequence[str] | None = None, where: str = "TRUE"
    ) -> list[dict[str, Any]]:
        """Rows as Python values. Arrow would load pandas for moments in time, so they are converted here."""
        table = self.read(contract, columns=columns, where=where)
        values = [
            [
                None if number is None else _EPOCH + timedelta(microseconds=number)
                for number in held.cast("int64").to_pylist()
            ]
            if pa.types.is_timestamp(held.type)
            else held.to_pylist()
            for held in table.columns
        ]
        return [dict(zip(table.column_names, row, strict=True)) for row in zip(*values, strict=True)]

    def size(self, contract: TableContract) -> TableSize:
        table = self.present(contract)
        actions = pa.table(table.get_add_actions(flatten=True))
        records = actions["num_records"].to_pylist()
        return TableSize(
            rows=None if None in records else sum(records),
            files=actions.num_rows,
            bytes=sum(actions["size_bytes"].to_pylist()),
            version=table.version(),
        )


def _keep(path: LakePath, held: _Present) -> None:
    if held.entry is not None:
        _present[path] = held
    if len(_present) > _MOST_PRESENT:
        _present.pop(next(iter(_present)), None)


@dataclass(frozen=True, kw_only=True)
class CommitFiles:
    """Data files that a commit added and removed, and the engine that it names as its writer."""

    added: int = 0
    removed: int = 0
    bytes_added: int = 0
    engine: str = ""


def commit_files(path: LakePath, version: int | None) -> CommitFiles:
    """What the log entry of `version` says; nothing for None. Files of the change feed are not counted."""
    if version is None:
        return CommitFiles()
    actions = actions_of(log_entry(path, version).read_bytes())
    added = [action["add"]["size"] for action in actions if "add" in action]
    engine = next((action["commitInfo"].get("engineInfo", "") for action in actions if "commitInfo" in action), "")
    removed = sum("remove" in action for action in actions)
    return CommitFiles(added=len(added), removed=removed, bytes_added=sum(added), engine=engine)


def _described(contract: TableContract) -> pa.Schema:
    """Every column carries its description, so that other engines show it too."""
    return pa.schema(
        [
            field.with_metadata({"comment": contract.column(field.name).description})
            for field in arrow_schema(contract.stored_columns)
        ]
    )


def _listed(name: str) -> str:
    """A column as that property names it: Spark takes a name such as `net-price` for an expression, and fails."""
    return name if re.fullmatch(r"\w+", name) else column(name, "spark")
