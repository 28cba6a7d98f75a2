"""The account of a write that had been committed before: a run repeated, or one whose process was killed.

A commit is accounted for in `writes` once. If the writer died before it told, the replay tells in its stead,
from the commit itself; else it says that it did nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from deltalake import DeltaTable

from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.lake.contents import counted_content
from lakehouse_assets.lake.ledger import Entry, Ledger, entries_of
from lakehouse_assets.lake.report import WriteReport, writer_of
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.tables import CommitFiles, Lake, commit_files
from lakehouse_assets.plan.alignment import new_column, new_columns
from lakehouse_assets.plan.scope import Scope
from lakehouse_assets.plan.sql_text import literal
from lakehouse_assets.plan.write_facts import WriteRequest


@dataclass(frozen=True, kw_only=True)
class _Account:
    """What is known of the commit. Rows that it found equal left no trace in it."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    quarantined: int = 0
    files: CommitFiles = field(default_factory=CommitFiles)
    version_before: int
    version_after: int


def replayed(
    lake: Lake, contract: TableContract, partitions: Mapping[str, Scope], request: WriteRequest, run_id: str
) -> WriteReport:
    """Bring the ledger up to date and tell; no row is touched."""
    table = lake.open(contract)
    entries = _entries(lake, table, contract, partitions)
    account = _account(lake, table, contract, partitions, request, run_id)
    told = account.version_before == account.version_after
    return WriteReport(
        write_key=request.key,
        asset=contract.name,
        run_id=run_id,
        partitions=tuple(partitions),
        strategy=request.strategy,
        action="replayed",
        executor="none" if told else writer_of(account.files),
        executor_reason="the write had been committed before"
        if told
        else f"the write had been committed as version {account.version_after}, and its process died before it told",
        engine="" if told else account.files.engine,
        owners=None,
        owners_made=None,
        rows_inserted=account.inserted,
        rows_updated=account.updated,
        rows_deleted=account.deleted,
        rows_unchanged=0,
        rows_quarantined=account.quarantined,
        files_added=account.files.added,
        files_removed=account.files.removed,
        bytes_added=account.files.bytes_added,
        files_total=0,
        files_touched=0,
        files_unbounded=0,
        version_before=account.version_before,
        version_after=account.version_after,
        seconds={},
        entries=entries,
        written_at=datetime.now(UTC),
    )


def _entries(
    lake: Lake, table: DeltaTable, contract: TableContract, partitions: Mapping[str, Scope]
) -> tuple[Entry, ...]:
    """The ledger's newest entries; a MERGE whose writer died has not said what the partition holds, so count it."""
    ledger = Ledger(lake)
    latest = ledger.latest([contract])
    found = [latest[(contract.name, partition)] for partition in partitions]
    columns = table_facts(table, contract).columns
    new = new_columns(contract, {n: k for n, k in columns.items() if n not in _stored(contract)})
    whole = replace(contract, columns=(*contract.columns, *(new_column(name, kind) for name, kind in new)))
    known = [
        replace(entry, data_version=counted_content(table, whole, partitions[entry.partition]).version)
        if entry.data_version is None and entry.cursor and contract.partition_by
        else entry
        for entry in found
    ]
    ledger.record(contract, known=known)
    return tuple(known)


def _stored(contract: TableContract) -> set[str]:
    return {each.name for each in contract.stored_columns}


def _account(
    lake: Lake,
    table: DeltaTable,
    contract: TableContract,
    partitions: Iterable[str],
    request: WriteRequest,
    run_id: str,
) -> _Account:
    same = f"write_key = {literal(request.key, 'datafusion')}"
    nothing = _Account(version_before=table.version(), version_after=table.version())
    if lake.read(WRITES, columns=["write_key"], where=same).num_rows:
        return nothing
    wanted = {(contract.name, partition, run_id) for partition in partitions}
    for commit in table.history():
        if {(entry.asset, entry.partition, entry.run_id) for entry in entries_of(commit)} == wanted:
            return _told_by(
                commit,
                commit_files(lake.path(contract), commit["version"]),
                quarantined=lake.read(QUARANTINE, columns=["write_key"], where=same).num_rows,
            )
    return nothing


def _told_by(commit: Mapping[str, Any], files: CommitFiles, *, quarantined: int) -> _Account:
    """The two engines give their counts different names."""
    metrics: Mapping[str, Any] = commit.get("operationMetrics") or {}

    def count(*names: str) -> int:
        return next((int(metrics[name]) for name in names if name in metrics), 0)

    return _Account(
        inserted=count("num_target_rows_inserted", "numTargetRowsInserted", "num_added_rows", "numOutputRows"),
        updated=count("num_target_rows_updated", "numTargetRowsUpdated"),
        deleted=count("num_target_rows_deleted", "numTargetRowsDeleted", "numDeletedRows"),
        quarantined=quarantined,
        files=files,
        version_before=commit["version"] - 1,
        version_after=commit["version"],
    )
