"""Which Delta versions of the graph's tables tell of a commit, as far as they can still be read."""

import json
from dataclasses import dataclass

from deltalake.exceptions import DeltaError

from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.log_range import data_files
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import literal


@dataclass(frozen=True, kw_only=True)
class Published:
    """Versions by table of one commit's graph; `missing` are tables whose version is not known or was vacuumed."""

    versions: dict[str, int]
    missing: tuple[str, ...]


def published(lake: Lake, repo: str, commit: str, tables: tuple[TableContract, ...]) -> Published | None:
    """Of the asked tables; None if the graph was never brought to the commit."""
    where = f"repo = {literal(repo, 'datafusion')} AND commit_sha = {literal(commit, 'datafusion')}"
    told = lake.read(GRAPH_VERSIONS, columns=["tables"], where=where)["tables"].to_pylist()
    if not told:
        return None
    versions: dict[str, int] = json.loads(told[0])
    there = {c.name: versions[c.name] for c in tables if c.name in versions and is_readable(lake, c, versions[c.name])}
    return Published(versions=there, missing=tuple(c.name for c in tables if c.name not in there))


def is_readable(lake: Lake, contract: TableContract, version: int) -> bool:
    """Whether the log still has the version, and no file of it was vacuumed."""
    table = lake.open(contract)
    if version > table.version():
        return False
    try:
        table.load_as_version(version)
    except DeltaError:
        return False  # the log entries that make up that version are gone
    return all(file.exists() for file in data_files(table, lake.path(contract), contract, ()))
