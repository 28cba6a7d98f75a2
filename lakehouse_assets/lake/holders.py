"""Who holds what by the lake's own word: published commits, pinned ones, clones, and what Iceberg's readers see."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlparse

import pyarrow as pa
from deltalake import DeltaTable

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.core.places import is_store
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.lake.pins import pins
from lakehouse_assets.lake.published import PublishedCommit, published_commits
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.holds import Hold, Retention, retained

_LOG = "_delta_log"
_DEEPEST = 3
"""How many folders below the lake's own a clone may lie."""


def retained_commits(settings: Settings) -> Iterator[Hold]:
    """The published commits that stay readable without anybody's asking."""
    retention = Retention(commits=settings.keep_commits, days=settings.keep_days)
    by_repo: dict[str, list[PublishedCommit]] = {}
    for each in published_commits(Lake(settings.lake)):
        by_repo.setdefault(each.repo, []).append(each)
    for repo, commits in by_repo.items():
        kept = retained({each.commit_sha: each.published_at for each in commits}, retention, datetime.now(UTC))
        for each in commits:
            if each.commit_sha in kept:
                yield from _of_commit(each, by=f"the last commits of {repo}", why=f"{retention} stay readable")


def pinned_commits(settings: Settings) -> Iterator[Hold]:
    lake = Lake(settings.lake)
    wanted = {(each.repo, each.commit_sha): each for each in pins(lake)}
    for each in published_commits(lake) if wanted else ():
        found = wanted.get((each.repo, each.commit_sha))
        if found is not None:
            by = f"pin {each.repo}@{each.commit_sha[:12]}"
            yield from _of_commit(each, by=by, why=found.why or "it was pinned")


def clones(settings: Settings) -> Iterator[Hold]:
    """Tables below the lake's folder whose log names files of another table there, as a shallow clone does."""
    root = Lake(settings.lake).root
    for clone in _below(root):
        for table, files in _foreign_files(str(root), clone).items():
            yield Hold(table=table, by=f"clone {clone}", why=f"{clone} names these files", files=tuple(files))


def iceberg_snapshots(settings: Settings) -> Iterator[Hold]:
    """The versions whose files are also those of Iceberg snapshots that can still be read."""
    from lakehouse_assets.lake.iceberg import has_catalog, held_versions, open_catalog, published_tables

    if not has_catalog(settings.home):
        return
    catalog = open_catalog(settings.home)
    for name in published_tables(catalog):
        for version in held_versions(catalog, name):
            yield Hold(table=name, by=f"Iceberg table {name}", why="its readers read the same files", version=version)


def _below(root: LakePath) -> list[str]:
    """The folders of tables, by their places below the lake's own."""
    if isinstance(root, Path):
        logs = (log for depth in range(1, _DEEPEST + 1) for log in root.glob("*/" * depth + "_delta_log"))
        return sorted(log.parent.relative_to(root).as_posix() for log in logs)
    entries = (entry.parent.parent.relative_to(root) for entry in root.rglob("*.json") if entry.parent.name == _LOG)
    return sorted({place.as_posix() for place in entries if len(place.parts) <= _DEEPEST})


def _foreign_files(root: str, clone: str) -> dict[str, list[str]]:
    """Files that a table has in the folders of tables of ours, by table, as these tables' logs name them."""
    found: dict[str, list[str]] = {}
    for named in pa.table(DeltaTable(f"{root}/{clone}").get_add_actions())["path"].to_pylist():
        path = unquote(named if is_store(root) else urlparse(named).path)
        table, _, file = path.removeprefix(f"{root}/").partition("/")
        if path.startswith(f"{root}/") and not path.startswith(f"{root}/{clone}/") and table in CATALOG:
            found.setdefault(table, []).append(file)
    return found


def _of_commit(commit: PublishedCommit, *, by: str, why: str) -> Iterator[Hold]:
    for table, version in commit.versions.items():
        yield Hold(table=table, by=by, why=why, partition=commit.repo, version=version)
