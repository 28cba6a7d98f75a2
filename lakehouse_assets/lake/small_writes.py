"""Writes of a few rows to the lake's own tables, by the upsert service like all others.

Cost: no session, but for tables that ask their writers for what delta-rs has not.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from lakehouse_assets.contracts.schemas import arrow_rows
from lakehouse_assets.contracts.table import Strategy, TableContract
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.report import WriteReport
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.upsert import UpsertService
from lakehouse_assets.plan.scope import Equals, Scope
from lakehouse_assets.plan.staleness import MaterializationKey

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def write_rows(
    lake: Lake,
    contract: TableContract,
    rows: Sequence[Mapping[str, Any]],
    *,
    strategy: Strategy | None = None,
    run_id: str = "",
) -> WriteReport:
    """Write rows of one partition, or of a table without; those that it has beside them stay.

    Without `run_id` it is a write of its own, however often the same is asked for.
    """
    run_id = run_id or uuid4().hex
    names = contract.partition_by[:1]
    partition = str(rows[0][names[0]]) if names else ""
    scope: Scope = tuple(Equals(column=name, value=rows[0][name]) for name in names)
    key = MaterializationKey(asset=contract.name, partition=partition, cursor=run_id, code_version="", settings_hash="")
    given = [each for each in contract.columns if each.name in rows[0]]
    batch = Batch(rows=arrow_rows(given, rows), keys=(key,), owners=(), strategy=strategy)
    return small_service(lake).write(contract, batch, {partition: scope}, run_id=run_id)


def small_service(lake: Lake) -> UpsertService:
    return UpsertService(lake, spark=_spark, executor="delta-rs", because="its rows are always few")


def _spark() -> "SparkSession":
    from lakehouse_assets.lake.session import runtime_for  # takes time to load, and few tables need it

    return runtime_for(load_settings()).session
