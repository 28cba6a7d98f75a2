"""What nobody refers to: rows and mirrors of removed repositories, contents without a file, scratch folders."""

import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lakehouse_assets.assets.holders import all_holds
from lakehouse_assets.assets.removal import delete_rows
from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.pins import unvacuumed
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.repository_locks import OF_MONTHS, held
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.unreferenced import collect_contents
from lakehouse_assets.recipes.extractors import extractors

_SCRATCH = "verify-*"
_SCRATCH_SECONDS = 24 * 3600
"""A clean build for a comparison takes minutes; one that is a day old was left by a kill."""


@dataclass(frozen=True, kw_only=True)
class Garbage:
    """Something that nobody refers to. Bytes of rows are those of their files; they are freed by a vacuum."""

    kind: Literal["repository", "contents", "mirror", "scratch"]
    subject: str
    rows: int | None = None
    bytes: int


def collect_garbage(settings: Settings, *, dry_run: bool = False) -> list[Garbage]:
    """Delete what nobody refers to, or tell what it is. Rows first: what they alone refer to goes with them."""
    lake = Lake(settings.lake)
    found = [*_removed_repositories(lake, dry_run=dry_run)]
    with unvacuumed(lake):  # holds stay as they are while contents are judged by them
        contents = collect_contents(lake, all_holds(settings), extractors(), dry_run=dry_run)
    found += [
        Garbage(kind="contents", subject=each.table, rows=each.rows, bytes=each.bytes) for each in contents if each.rows
    ]
    return [*found, *_folders(settings, lake, dry_run=dry_run)]


def _removed_repositories(lake: Lake, *, dry_run: bool) -> Iterator[Garbage]:
    """Rows of repositories that are registered no more, table by table."""
    for contract in CATALOG.values():
        if contract.partition_by == ("month",) and lake.exists(contract):
            yield from _in_months(lake, contract, dry_run=dry_run)
        if contract.partition_by != ("repo",) or not lake.exists(contract):
            continue
        files = table_facts(lake.open(contract), contract).files
        known = Registry(lake).all()
        gone = sorted({file.partition["repo"] for file in files} - set(known))
        for name in gone:
            own = [file for file in files if file.partition["repo"] == name]
            rows = sum(file.rows or 0 for file in own)
            subject = f"{contract.name} of {name}"
            yield Garbage(kind="repository", subject=subject, rows=rows, bytes=sum(file.size for file in own))
        if gone and not dry_run:
            _delete_unregistered(lake, contract, gone)


def _in_months(lake: Lake, contract: TableContract, *, dry_run: bool) -> Iterator[Garbage]:
    """The same in a table of months, whose files are shared: their bytes are not one repository's."""
    rows = Counter(row["repo"] for row in lake.read(contract, columns=["repo"]).to_pylist())
    gone = sorted(set(rows) - set(Registry(lake).all()))
    for name in gone:
        yield Garbage(kind="repository", subject=f"{contract.name} of {name}", rows=rows[name], bytes=0)
    if gone and not dry_run:
        _delete_unregistered(lake, contract, gone)


def _delete_unregistered(lake: Lake, contract: TableContract, names: Sequence[str]) -> None:
    """Delete the rows of repositories unless one was registered again: a sync that holds it has written them anew."""
    with held(lake.locks, [*names, OF_MONTHS] if contract.partition_by == ("month",) else names):
        gone = [name for name in names if name not in Registry(lake).all()]
        if gone:
            delete_rows(lake, contract, gone)


def _folders(settings: Settings, lake: Lake, *, dry_run: bool) -> Iterator[Garbage]:
    known = Registry(lake).all()
    mirrors = sorted(settings.mirrors.glob("*.git")) if not settings.mirrors.is_symlink() else []
    left = [("mirror", path) for path in mirrors if path.stem not in known]
    old = time.time() - _SCRATCH_SECONDS
    left += [("scratch", path) for path in sorted(settings.home.glob(_SCRATCH)) if path.stat().st_mtime < old]
    for kind, path in left:
        yield Garbage(kind="mirror" if kind == "mirror" else "scratch", subject=path.name, bytes=_bytes(path))
        if not dry_run:
            shutil.rmtree(path)


def _bytes(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())
