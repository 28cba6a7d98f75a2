"""The entries of a table's log, read as files. Engines write them.

Cost: one small file an entry.
"""

import json
from collections.abc import Mapping
from typing import Any

from deltalake import DeltaTable

from lakehouse_assets.lake.object_path import LakePath, ObjectPath

NOTE = "lakehouse"
"""What the ledger's entries stand under in a commit's user metadata."""
_RECENT = (1, 10, 200)
"""Commits to look at for one's own: most often it is the last; a commit looked at is a log entry read."""
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


def transactions_of(folder: LakePath, version: int) -> set[str] | None:
    """The application transactions that a version's entry names; None if a checkpoint has taken its place."""
    try:
        entry = log_entry(folder, version).read_bytes()
    except FileNotFoundError:
        return None
    return {action["txn"]["appId"] for action in actions_of(entry) if "txn" in action}


def has_log(folder: LakePath) -> bool:
    """Whether a table has been made there. Only entries count: a writer that makes it just now, or was killed at it,
    leaves other files."""
    log = folder / "_delta_log"
    there = log.rglob("*") if isinstance(log, ObjectPath) else log.iterdir() if log.is_dir() else ()
    return any(entry.suffix in (".json", ".parquet") for entry in there)


def is_plain(table: DeltaTable) -> bool:
    """Whether the data files by themselves are the table's rows, for one who reads or shares them without an engine."""
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


def own_commit(table: DeltaTable, note: str) -> dict[str, Any]:
    """The commit that carries the note, among the last ones; empty if there is none."""
    table.update_incremental()
    last = (commit for limit in _RECENT for commit in table.history(limit))
    return next((commit for commit in last if commit.get("userMetadata") == note), {})


def noted(commit: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The ledger's entries in a commit's user metadata, as they stand there; none if it is not one of ours."""
    text = commit.get("userMetadata")
    return json.loads(text)[NOTE] if text and text.startswith(f'{{"{NOTE}"') else []


def last_writer(folder: LakePath) -> str:
    """Who made the newest commit of the table in a folder: its run where it names one, its engine and what it did."""
    table = DeltaTable(str(folder))
    (commit,) = table.history(1)
    runs = sorted({f"run {entry['run_id']}" for entry in noted(commit)})
    what = f"{commit.get('operation', 'a commit')} by {commit.get('engineInfo', 'an engine that gives no name')}"
    return ", ".join([*runs, f"{what} as version {table.version()}"])
