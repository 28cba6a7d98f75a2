"""The log of a table, entry by entry, as far as a reader of its changes has to know it.

The entries are read as files, without any library's memory of the table: a folder that was deleted and made anew is
seen as it is. Cost: one small file per commit of the range that changed the partitions, and one for each that the
ledger's index does not know yet; read once, however many partitions ask.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.core.hashing import fingerprint, json_fingerprint
from lakehouse_assets.lake.commit_log import actions_of, log_entry
from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.lake.tables import entry_identity
from lakehouse_assets.plan.cursors import CommitFacts, Cursor, KnownVersions, TableState, versions_to_read
from lakehouse_assets.plan.pruning import FileFacts, touched_files
from lakehouse_assets.plan.scope import Equals, Scopes
from lakehouse_assets.plan.sql_text import delta_name

_FEED = "delta.enableChangeDataFeed"
_REWRITTEN = {
    "column mapping": "run ALTER TABLE {table} DROP FEATURE columnMapping",
    "deletion vectors": "run REORG TABLE {table} APPLY (PURGE)",
}
"""By feature what brings a table's rows back into its files."""


@dataclass(frozen=True, kw_only=True)
class LogRange:
    """The state of a table with its commits since a cursor, and the files that the feed of the range rests on."""

    state: TableState
    files: tuple[LakePath, ...]

    @property
    def missing(self) -> list[LakePath]:
        return [file for file in self.files if not file.exists()]


@dataclass(frozen=True, kw_only=True)
class _LogEntry:
    """What one log entry says, as far as readers of changes ask."""

    mark: str
    facts: CommitFacts
    files: tuple[FileFacts, ...]
    """Those that tell its changes; partition values are texts, as the log has them."""


def log_range(
    table: DeltaTable, folder: LakePath, name: str, since: Cursor | None, scopes: Scopes, known: KnownVersions | None
) -> LogRange:
    """The commits since a cursor; of those that `known` tells of, the ones that changed the partitions."""
    metadata, version = table.metadata(), table.version()
    commits: list[CommitFacts] = []
    files: list[LakePath] = []
    gone = False
    if since is not None and since.table_id == str(metadata.id):
        for number in versions_to_read(since.end, version, known):
            entry = _entry(folder, number)
            if entry is None:
                gone = True
                continue
            held = [folder / unquote(path) for path in _feed_files(entry, scopes)]
            files += held
            commits.append(replace(entry.facts, touches=bool(held)))
    return LogRange(
        state=TableState(
            table=name,
            table_id=str(metadata.id),
            version=version,
            schema=columns_fingerprint(table.schema().to_json()),
            feed=metadata.configuration.get(_FEED) == "true",
            last_commit=mark_of(folder, version) or "",
            commit_at_cursor=mark_of(folder, since.end - 1) if since is not None and since.end else None,
            commits=tuple(commits),
            commits_gone=gone,
        ),
        files=tuple(files),
    )


def data_files(table: DeltaTable, folder: LakePath, contract: TableContract, scopes: Scopes) -> list[LakePath]:
    """The files that hold the rows of the partitions; refused by name where these alone do not say which rows."""
    actions = pa.table(table.get_add_actions(flatten=True))
    paths = actions["path"].to_pylist()
    values = [actions[f"partition.{name}"].to_pylist() for name in contract.partition_by]
    held = zip(*values, strict=True) if values else (() for _ in paths)
    files = [
        FileFacts(path=path, size=0, rows=None, partition=dict(zip(contract.partition_by, row, strict=True)))
        for path, row in zip(paths, held, strict=True)
    ]
    touched = [file.path for file in touched_files(files, scopes, None)]
    if feature := _hiding(table, touched):
        rewrite = _REWRITTEN[feature].format(table=delta_name(table.table_uri))
        raise LakeStateError(
            subject=f"table {contract.name}",
            seen=f"it uses Delta's {feature}, which another program has turned on for it",
            why="its data files alone do not say which rows it has, so rows would be misread",
            remedy=f"{rewrite} in Spark; or move the folder away: `lakehouse sync` builds the table anew",
        )
    return [folder / unquote(path) for path in touched]


def _hiding(table: DeltaTable, paths: Sequence[str]) -> str | None:
    """The feature by which these files are not the rows as they stand; most tables have none, and are not looked at."""
    if table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none":
        return "column mapping"
    if "deletionVectors" not in (table.protocol().reader_features or ()):
        return None
    vectors = pa.table(table.deletion_vectors())["filepath"].to_pylist()
    ends = {unquote(path) for path in paths}
    return "deletion vectors" if any(unquote(each).endswith(tuple(ends)) for each in vectors) else None


def changed_since(folder: LakePath, versions: Mapping[str, int], until: int) -> set[str]:
    """The partitions, by the value of their first column, whose rows were changed behind a version of their own.

    Where the log does not tell, as an entry is gone or the version is not there yet, they count as changed.
    """
    changed = {each for each, version in versions.items() if version > until}
    for number in range(min(versions.values()) + 1, until + 1):
        entry = _entry(folder, number)
        touched = versions if entry is None else {str(next(iter(file.partition.values()), "")) for file in entry.files}
        changed.update(each for each in touched if versions.get(each, number) < number)
    return changed


def partitions_changed(folder: LakePath, version: int) -> set[str] | None:
    """The partitions, by the value of their first column, whose rows a commit changed.

    None if it changed more than rows, or if its entry is gone or does not tell.
    """
    entry = _entry(folder, version)
    if entry is None or entry.facts.changes_more:
        return None
    if any(not file.partition for file in entry.files):
        return None
    return {str(next(iter(file.partition.values()))) for file in entry.files}


def oldest_version(folder: LakePath) -> int:
    """The first version that the log can still tell: its first, or that of the oldest checkpoint."""
    names = [path.name for path in (folder / "_delta_log").iterdir()]
    if f"{0:020}.json" in names:
        return 0
    return min(int(name[:20]) for name in names if ".checkpoint" in name and name[:20].isdecimal())


def columns_fingerprint(schema: str) -> str:
    """Of names and types, in the words of the log; descriptions and the columns' order don't count."""
    fields = json.loads(schema)["fields"]
    return json_fingerprint(sorted([field["name"], json.dumps(field["type"], sort_keys=True)] for field in fields))


def _entry(folder: LakePath, version: int) -> _LogEntry | None:
    identity = entry_identity(folder, version)
    return None if identity is None else _read_entry(folder, version, identity)


@lru_cache(maxsize=256)
def _read_entry(folder: LakePath, version: int, identity: tuple[int, int]) -> _LogEntry:
    """Kept by what tells the file from another in its place: a run asks for each of its repositories."""
    data = log_entry(folder, version).read_bytes()
    actions = actions_of(data)
    files = (
        FileFacts(path=action["path"], size=0, rows=None, partition=action.get("partitionValues") or {})
        for action in feed_actions(actions)
    )
    return _LogEntry(mark=fingerprint([data]), facts=_commit(version, actions), files=tuple(files))


def mark_of(folder: LakePath, version: int) -> str | None:
    """The fingerprint of a version's log entry; None if it is gone."""
    entry = _entry(folder, version)
    return None if entry is None else entry.mark


def _commit(version: int, actions: list[dict[str, Any]]) -> CommitFacts:
    info: Mapping[str, Any] = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})
    told: Mapping[str, Any] = next((action["metaData"] for action in actions if "metaData" in action), {})
    operation = str(info.get("operation", ""))
    return CommitFacts(
        version=version,
        operation=operation,
        replaces_all=_replaces_all(operation, info.get("operationParameters") or {}),
        sets_columns=columns_fingerprint(told["schemaString"]) if told else None,
        feed=told["configuration"].get(_FEED) == "true" if told else None,
    )


def _replaces_all(operation: str, parameters: Mapping[str, Any]) -> bool:
    """An overwrite that names no rows is of all of them."""
    if "REPLACE TABLE" in operation:
        return True
    mode = str(parameters.get("mode", "")).lower()
    return operation == "WRITE" and mode == "overwrite" and parameters.get("predicate") in (None, "", "[]", "true")


def feed_actions(actions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The files that tell a commit's changes: those of the feed if it wrote any, else what it added and removed.

    What is added or removed without a change of data, as by a compaction, tells none.
    """
    told = [action["cdc"] for action in actions if "cdc" in action]
    if told:
        return told
    moved = [action.get("add") or action.get("remove") for action in actions]
    return [action for action in moved if action and action["dataChange"]]


def _feed_files(entry: _LogEntry, scopes: Scopes) -> Iterator[str]:
    """The paths of the files that tell changes of the scopes."""
    texts = {
        condition.column
        for scope in scopes
        for condition in scope
        if isinstance(condition, Equals) and isinstance(condition.value, str)
    }
    # Texts can be compared as the log has them; values of other types rule nothing out.
    comparable = (
        replace(file, partition={name: value for name, value in file.partition.items() if name in texts})
        for file in entry.files
    )
    files = entry.files if all(texts.issuperset(file.partition) for file in entry.files) else tuple(comparable)
    return (file.path for file in touched_files(files, scopes, None))
