"""All that a table's log still tells of its files: when each came and went, and which of them tell changes.

Cost: every log entry that is there, and one checkpoint. Maintenance reads it; updates never do.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.commit_log import actions_of
from lakehouse_assets.lake.log_range import feed_actions, oldest_version
from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.vacuum import DiskFile, FeedFile, LoggedFile, TableLog

_LOG = "_delta_log"


def table_log(lake: Lake, contract: TableContract) -> TableLog:
    """The log of a table. Files that left it before the oldest version that can be told are not in it."""
    folder = lake.path(contract)
    table = lake.open(contract)
    oldest = oldest_version(folder)
    living: dict[str, LoggedFile] = {}
    if oldest > 0:
        living = {file.path: file for file in _files_at(folder, contract, oldest)}
    gone: list[LoggedFile] = []
    feed: list[FeedFile] = []
    entries: dict[int, int] = {}
    for version in range(oldest, table.version() + 1):
        path = folder / _LOG / f"{version:020}.json"
        if not path.exists():
            continue  # the checkpoint at the oldest version stands for it
        actions = actions_of(path.read_bytes())
        entries[version] = at = _committed_at(actions, path)
        feed += [_feed_file(action, contract, living, version, at) for action in feed_actions(actions)]
        if version == oldest > 0:
            continue
        gone += _applied(living, actions, contract, version, at)
    return TableLog(
        table=contract.name,
        oldest=oldest,
        version=table.version(),
        files=(*living.values(), *gone),
        feed=tuple(feed),
        entries=entries,
        checkpoints=tuple(sorted(checkpoint_versions(folder))),
    )


def files_on_disk(folder: LakePath) -> dict[str, DiskFile]:
    """Data and feed files below a table's folder, whether or not a commit names them, by path as the log has it."""
    found: dict[str, DiskFile] = {}
    for path in folder.rglob("*.parquet"):
        below = path.relative_to(folder)  # pyright: ignore[reportArgumentType]  # both are of one kind
        if below.parts[0] != _LOG:
            facts = path.stat()
            found[below.as_posix()] = DiskFile(size=facts.st_size, changed_at=facts.st_mtime_ns // 1_000_000)
    return found


def checkpoint_versions(folder: LakePath) -> set[int]:
    names = (path.name for path in (folder / _LOG).iterdir())
    return {int(name[:20]) for name in names if ".checkpoint" in name and name[:20].isdecimal()}


def _files_at(folder: LakePath, contract: TableContract, version: int) -> list[LoggedFile]:
    table = DeltaTable(str(folder), version=version)
    actions = pa.table(table.get_add_actions(flatten=True))
    paths = actions["path"].to_pylist()
    values: list[Any] = [None] * len(paths)
    if contract.partition_by:
        values = actions[f"partition.{contract.partition_by[0]}"].to_pylist()
    return [
        LoggedFile(path=unquote(path), partition=None if value is None else str(value), added=0)
        for path, value in zip(paths, values, strict=True)
    ]


def _applied(
    living: dict[str, LoggedFile], actions: list[dict[str, Any]], contract: TableContract, version: int, at: int
) -> list[LoggedFile]:
    """Bring the living files up to one commit; gives those that it took out."""
    gone: list[LoggedFile] = []
    for removed in (action["remove"] for action in actions if "remove" in action):
        file = living.pop(unquote(removed["path"]), None)
        if file is not None:
            left_at = removed.get("deletionTimestamp") or at
            gone.append(
                LoggedFile(
                    path=file.path, partition=file.partition, added=file.added, removed=version, removed_at=left_at
                )
            )
    for added in (action["add"] for action in actions if "add" in action):
        path = unquote(added["path"])
        living[path] = LoggedFile(path=path, partition=_partition(added, contract), added=version)
    return gone


def _feed_file(
    action: Mapping[str, Any], contract: TableContract, living: Mapping[str, LoggedFile], version: int, at: int
) -> FeedFile:
    path = unquote(action["path"])
    # An engine may take a file out without a word on its partition.
    partition = living[path].partition if path in living else _partition(action, contract)
    return FeedFile(path=path, partition=partition, version=version, at=at)


def _partition(action: Mapping[str, Any], contract: TableContract) -> str | None:
    return (action.get("partitionValues") or {}).get(contract.partition_by[0]) if contract.partition_by else None


def _committed_at(actions: list[dict[str, Any]], path: LakePath) -> int:
    info = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})
    return int(info.get("timestamp") or path.stat().st_mtime_ns // 1_000_000)
