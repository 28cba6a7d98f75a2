"""What environments hold of the tables: the versions that they show, and those that they would go back to."""

import fcntl
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lakehouse_assets.contracts.materializations import MATERIALIZATIONS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.effects import reached
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.concurrency import retried
from lakehouse_assets.lake.environment_changes import drop_environment
from lakehouse_assets.lake.environments import Environments, kept_versions
from lakehouse_assets.lake.known_tables import VERSION_TABLE
from lakehouse_assets.lake.model_tables import named, stored_contract
from lakehouse_assets.lake.object_path import ObjectPath
from lakehouse_assets.lake.pins import unvacuumed
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.models.environment import Environment
from lakehouse_assets.plan.holds import Hold
from lakehouse_assets.plan.sql_text import in_list

_REMOVED = ".removed-"
"""How the folder of a table begins that is on its way out."""


def environments(settings: Settings) -> Iterator[Hold]:
    """Every table of every environment, at the versions of the revision in force and of the one before."""
    for environment, why in _referring(Lake(settings.lake)):
        for member in environment.members.values():
            if member.table:
                by = f"environment {environment.name}"
                yield Hold(table=member.table, by=by, why=why, version=member.table_version)
                for repo, version in member.apart.items():
                    if version >= 0:
                        yield Hold(table=member.table, by=by, why=why, partition=repo, version=version)


def model_tables(lake: Lake) -> dict[str, TableContract]:
    """The contracts of the versions' tables that are there, by table."""
    found: dict[str, TableContract] = {}
    for meaning in kept_versions(lake):
        contract = stored_contract(lake, meaning) if meaning.table else None
        if contract is not None:
            found[contract.name] = contract
    return found


@dataclass(frozen=True, kw_only=True)
class Collected:
    """What a garbage collection freed: tables with their bytes, and environments whose time was over."""

    tables: dict[str, int]
    environments: tuple[str, ...]
    kept: int


def collect_garbage(lake: Lake, *, dry_run: bool = False) -> Collected:
    """Drop environments that have expired, then remove the tables of versions that no environment refers to.

    It waits for applies that are under way: what they have built, nobody refers to yet. Nor does an environment go back
    to tables meanwhile that are about to be removed.
    """
    with _building(lake, fcntl.LOCK_EX), unvacuumed(lake):
        expired = _expired(lake)
        for name in () if dry_run else expired:
            drop_environment(lake, name)
        referred = {
            member.table
            for environment, _ in _referring(lake)
            if not (dry_run and environment.name in expired)
            for member in environment.members.values()
        }
        there = [each.name for each in lake.root.iterdir() if VERSION_TABLE.fullmatch(each.name)]
        unused = sorted(set(there) - referred)
        sizes = {table: _bytes(lake, table) for table in unused}
        if isinstance(lake.root, Path) and not dry_run:
            for left in lake.root.glob(f"{_REMOVED}*"):  # by a collection that was killed
                shutil.rmtree(left)
        if unused and not dry_run:
            _remove(lake, unused)
    return Collected(tables=sizes, environments=expired, kept=len(there) - len(unused))


@contextmanager
def building(lake: Lake) -> Generator[None, None, None]:
    """Keep garbage collection out while tables are built that no environment refers to yet."""
    with _building(lake, fcntl.LOCK_SH):
        yield


@contextmanager
def _building(lake: Lake, kind: int) -> Generator[None, None, None]:
    folder = lake.locks / ".locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "building").open("ab") as lock:
        fcntl.flock(lock, kind)
        yield


def _referring(lake: Lake) -> Iterator[tuple[Environment, str]]:
    store = Environments(lake)
    for name, now in store.all().items():
        yield now, "it shows this version"
        before = [each for each in store.history(name) if each.members != now.members]
        if before:
            yield before[-1], "it would go back to this version"


def _expired(lake: Lake) -> tuple[str, ...]:
    there = Environments(lake).all()
    bases = {each.base for each in there.values()}
    now = datetime.now(UTC)
    return tuple(
        name for name, each in there.items() if each.expires_at and each.expires_at <= now and name not in bases
    )


def _remove(lake: Lake, tables: list[str]) -> None:
    """The ledger forgets them first: a table made again under the name of one must not pass for that one."""
    if lake.exists(MATERIALIZATIONS):
        where = in_list("asset", tables, "datafusion")
        retried(lake, MATERIALIZATIONS, lambda: lake.open(MATERIALIZATIONS).delete(where))
    for table in tables:
        reached("collect: before folder")
        folder = lake.path(named(table))
        if isinstance(folder, ObjectPath):
            _remove_objects(folder)
            continue
        waiting = folder.with_name(f"{_REMOVED}{table}")
        folder.rename(waiting)  # in one step, so that no half of a table is ever seen
        reached("collect: after rename")
        shutil.rmtree(waiting)


def _remove_objects(folder: ObjectPath) -> None:
    """Objects cannot be renamed together. Without its checkpoints and first entry a table can be read by nobody, so
    that what a kill leaves is refused, and removed by the next collection; the last entry goes last."""
    log = sorted(each.relative_to(folder).as_posix() for each in (folder / "_delta_log").rglob("*"))
    folder.remove_below([each for each in log if not each.endswith(".json")])
    folder.remove_below([each for each in log if each.endswith(f"{0:020}.json")])
    folder.remove_below([each.relative_to(folder).as_posix() for each in folder.rglob("*.parquet")])
    folder.remove_below([each for each in log if each.endswith(".json")])


def _bytes(lake: Lake, table: str) -> int:
    return sum(file.stat().st_size for file in lake.path(named(table)).rglob("*") if file.is_file())
