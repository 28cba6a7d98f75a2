"""The log entry of a write of ours: one file, put there only if nobody else has put one.

Invariant: a version is written by one writer, whole or not at all. A version that is taken is a conflict, to be
planned anew. Only plain tables are written so; one that has what is not known here (deletion vectors, column
mapping, row tracking, constraints) is left to the engines.

Cost: one small file, and a checkpoint by delta-rs every twenty-five versions.
"""

import json
import os
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

from lakehouse_assets.core.effects import reached
from lakehouse_assets.lake.object_path import LakePath, ObjectPath

ENGINE = "lakehouse_assets"
"""What the entries that are written here name as their writer."""
CHECKPOINT_EVERY = 25
"""Who opens the table reads the entries behind the last checkpoint, a thread for each; these threads keep memory."""
_PLAIN_FEATURES = {"appendOnly", "invariants", "changeDataFeed"}
_PLAIN_SETTINGS = {
    "delta.appendOnly": "false",
    "delta.columnMapping.mode": "none",
    "delta.enableDeletionVectors": "false",
    "delta.enableRowTracking": "false",
    "delta.enableInCommitTimestamps": "false",
}
_BEYOND_PLAIN = ("delta.generationExpression", "delta.identity", "delta.invariants", "CURRENT_DEFAULT")


def log_entry(folder: LakePath, version: int) -> LakePath:
    """The file that tells what a version of the table in a folder did."""
    return folder / "_delta_log" / f"{version:020}.json"


def actions_of(entry: bytes) -> list[dict[str, Any]]:
    """Parse a log entry: one JSON object a line, and only a line feed ends a line.

    Names in it may hold any other character at which `str.splitlines` splits, such as U+2028.
    """
    return [json.loads(line) for line in entry.split(b"\n") if line]


def has_log(folder: LakePath) -> bool:
    """Whether a table has been made there. Only entries count: a writer that makes it just now, or was killed at it,
    leaves other files."""
    log = folder / "_delta_log"
    there = log.rglob("*") if isinstance(log, ObjectPath) else log.iterdir() if log.is_dir() else ()
    return any(entry.suffix in (".json", ".parquet") for entry in there)


def is_plain(table: DeltaTable) -> bool:
    """Whether all that the table asks of a writer is done here."""
    protocol = table.protocol()
    if protocol.min_reader_version > 1 or protocol.min_writer_version > 7:
        return False
    if not set(protocol.writer_features or ()) <= _PLAIN_FEATURES:
        return False
    settings = table.metadata().configuration
    if any(settings.get(name, plain) != plain for name, plain in _PLAIN_SETTINGS.items()):
        return False
    if any(name.startswith("delta.constraints.") for name in settings):
        return False
    schema = table.schema().to_json()
    return not any(name in schema for name in _BEYOND_PLAIN)


def commit(
    table: DeltaTable,
    folder: LakePath,
    actions: Sequence[Mapping[str, Any]],
    *,
    operation: str,
    note: str | None = None,
    transaction: str | None = None,
    metrics: Mapping[str, int],
    after: int | None = None,
) -> int:
    """Commit `actions` as the version after the table's, or after a later one, and give it. The table as it was opened
    stays at its own."""
    before = table.version() if after is None else after
    version, now = before + 1, time.time_ns() // 1_000_000
    info = {
        "timestamp": now,
        "operation": operation,
        "operationParameters": {},
        "readVersion": before,
        "isolationLevel": "Serializable",
        "isBlindAppend": False,
        "operationMetrics": {name: str(value) for name, value in metrics.items()},
        "engineInfo": ENGINE,
        **({} if note is None else {"userMetadata": note}),
    }
    txn = [] if transaction is None else [{"txn": {"appId": transaction, "version": 1, "lastUpdated": now}}]
    entry = [{"commitInfo": info}, *txn, *actions]
    lines = "".join(json.dumps(action, ensure_ascii=False, separators=(",", ":")) + "\n" for action in entry)
    put_if_absent(log_entry(folder, version), lines.encode())
    reached("commit: after log entry")
    if version % CHECKPOINT_EVERY == 0:
        table.update_incremental()
        table.create_checkpoint()  # and no entry goes: what holds them is asked by `lakehouse vacuum` alone
    return version


def newest_version(folder: LakePath, known: int) -> int | None:
    """The table's newest version, from one that is known on; None if the table asks something else of a writer since.

    Only the entries behind it are looked at: delta-rs would go through all files of the table to bring it up.
    """
    while (entry := log_entry(folder, known + 1)).exists():
        data = entry.read_bytes()
        if b'"metaData"' in data or b'"protocol"' in data:
            return None
        known += 1
    return known


def brought_up(table: DeltaTable, folder: LakePath) -> None:
    """Bring an open table up to what others have committed since; most often that is nothing, and costs one look."""
    if log_entry(folder, table.version() + 1).exists():
        table.update_incremental()


def removal(path: str, *, size: int, partition: Mapping[str, str | None], data_change: bool = True) -> dict[str, Any]:
    """The action that takes a file out; without `data_change` its rows are in another file of the same commit."""
    return {
        "remove": {
            "path": path,
            "deletionTimestamp": time.time_ns() // 1_000_000,
            "dataChange": data_change,
            "extendedFileMetadata": True,
            "partitionValues": dict(partition),
            "size": size,
        }
    }


def put_if_absent(path: LakePath, data: bytes) -> None:
    """Make a file with its content in one step, or fail as a conflict if there is one of that name.

    Not forced to disk, as no engine forces its data files: what a power cut takes of these, an entry could not mend.
    """
    try:
        if isinstance(path, ObjectPath):
            reached("commit: before log entry")
            path.put_new(data)
        else:
            _link_new(path, data)
    except FileExistsError:
        raise CommitFailedError(f"version {int(path.stem)} was committed by another writer") from None


def _link_new(path: Path, data: bytes) -> None:
    waiting = path.with_name(f"_commit_{uuid.uuid4()}.json.tmp")
    waiting.write_bytes(data)
    try:
        reached("commit: before log entry")
        os.link(waiting, path)
    finally:
        waiting.unlink()
