"""Which Delta versions of the graph's tables tell of a commit, as far as they can still be read.

A commit's versions are kept readable for its own repository alone: files of others at the same version may be gone.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from deltalake.exceptions import DeltaError

from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.log_range import data_files, oldest_version
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.scope import Scopes, equal_scopes
from lakehouse_assets.plan.sql_text import literal


@dataclass(frozen=True, kw_only=True)
class Published:
    """Versions by table of one commit's graph; `missing` are tables whose version is not known or was vacuumed."""

    versions: dict[str, int]
    missing: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PublishedCommit:
    """A commit that the graph was brought to, and the version of every table that tells of it."""

    repo: str
    commit_sha: str
    versions: Mapping[str, int]
    published_at: datetime


def published_commits(lake: Lake, repo: str | None = None) -> list[PublishedCommit]:
    """The commits of a repository, or of all, the last published first. Of a commit that was published twice, once."""
    rows = [row for row in lake.rows(GRAPH_VERSIONS) if repo in (None, row["repo"])]
    found = [
        PublishedCommit(
            repo=row["repo"],
            commit_sha=row["commit_sha"],
            versions=json.loads(row["tables"]),
            published_at=row["published_at"],
        )
        for row in rows
    ]
    return sorted(found, key=lambda each: (each.published_at, each.commit_sha), reverse=True)


def published(lake: Lake, repo: str, commit: str, tables: tuple[TableContract, ...]) -> Published | None:
    """Of the asked tables, for the repository's own rows; None if the graph was never brought to the commit."""
    where = f"repo = {literal(repo, 'datafusion')} AND commit_sha = {literal(commit, 'datafusion')}"
    told = lake.read(GRAPH_VERSIONS, columns=["tables"], where=where)["tables"].to_pylist()
    if not told:
        return None
    versions: dict[str, int] = json.loads(told[0])
    own = equal_scopes("repo", [repo])
    known = [each for each in tables if each.name in versions]
    there = {each.name: versions[each.name] for each in known if is_readable(lake, each, versions[each.name], own)}
    return Published(versions=there, missing=tuple(each.name for each in tables if each.name not in there))


def is_readable(lake: Lake, contract: TableContract, version: int, scopes: Scopes = ()) -> bool:
    """Whether the log still has the version, and no file of it was vacuumed, of these partitions if some are named."""
    if not lake.exists(contract):
        return False
    table = lake.open(contract)
    if not oldest_version(lake.path(contract)) <= version <= table.version():
        return False
    try:
        table.load_as_version(version)
    except DeltaError:
        return False  # the log entries that make up that version are gone
    return all(file.exists() for file in data_files(table, lake.path(contract), contract, scopes))
