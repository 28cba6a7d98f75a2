"""Forgetting a repository: its registration, its rows, its mirror."""

import shutil
from collections.abc import Sequence
from uuid import uuid4

import pyarrow as pa

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import Strategy, TableContract
from lakehouse_assets.core.effects import reached
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.small_writes import small_service
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.scope import Equals, Scope
from lakehouse_assets.plan.sql_text import in_list
from lakehouse_assets.plan.staleness import MaterializationKey


def remove_repositories(settings: Settings, names: Sequence[str], *, keep_rows: bool) -> dict[str, int]:
    """Unregister, then delete; gives the rows deleted by table. Contents in `blobs` are shared, so they stay.

    The caller holds the repositories and the months (`lake/repository_locks.py`), so that no run writes rows of them
    after this.
    Each delete says in its own commit that the partitions are gone, so that a kill at any point leaves a
    table whose rows and ledger agree, and a repository that takes the name later is built from nothing. What is
    published of them goes first: readers see all of a repository or nothing.
    """
    lake = Lake(settings.lake)
    gone = [repository.name for repository in Registry(lake).remove(names)]
    deleted: dict[str, int] = {}
    for contract in () if keep_rows else sorted(CATALOG.values(), key=lambda each: each is not GRAPH_VERSIONS):
        if contract.partition_by in (("repo",), ("month",)) and lake.exists(contract):
            deleted[contract.name] = delete_rows(lake, contract, gone)
    for name in gone:
        forget_mirror(settings, name)
    return deleted


def forget_mirror(settings: Settings, name: str) -> None:
    shutil.rmtree(settings.mirrors / f"{name}.git", ignore_errors=True)


def delete_rows(lake: Lake, contract: TableContract, names: Sequence[str]) -> int:
    """Delete the rows of some repositories from one table, and say so in the same commit; gives how many."""
    rows = pa.Table.from_batches([], schema=arrow_schema(contract.columns))
    scopes: dict[str, Scope] = {name: (Equals(column="repo", value=name),) for name in names}
    strategy: Strategy = "replace_partitions"
    if contract.partition_by != ("repo",):  # months that the others of them have as well: they are stale from now on
        rows = lake.read(contract, columns=contract.key, where=in_list("repo", names, "datafusion"))
        months = sorted(set(rows["month"].to_pylist()))
        scopes = {str(month): (Equals(column="month", value=month),) for month in months}
        strategy = "delete_matching"
        if not scopes:
            return 0
    keys = tuple(
        MaterializationKey(asset=contract.name, partition=name, cursor="", code_version="", settings_hash="")
        for name in scopes
    )
    reached("delete: before commit")
    batch = Batch(rows=rows, keys=keys, strategy=strategy)
    done = small_service(lake).write(contract, batch, scopes, run_id=f"removal-{uuid4().hex}")
    reached("delete: after commit")
    return done.rows_deleted
