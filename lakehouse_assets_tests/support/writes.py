"""Contracts, batches and writes for tests of the upsert service."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import REPO, Column, Strategy, TableContract
from lakehouse_assets.lake.batch import Batch, WorkerRows
from lakehouse_assets.lake.report import WriteReport
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.upsert import UpsertService
from lakehouse_assets.plan.scope import Equals, Scope
from lakehouse_assets.plan.staleness import MaterializationKey
from lakehouse_assets.plan.write_plan import Executor

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

THINGS = TableContract(
    name="things",
    description="One row per thing.",
    columns=(
        REPO,
        Column(name="path", type="string", description="File that owns it."),
        Column(name="name", type="string", description="Its name in the file."),
        Column(name="size", type="bigint", nullable=True, description="How large it is."),
        Column(name="kind", type="string", nullable=True, one_of=("a", "b"), description="What it is."),
        Column(name="tags", type="array<string>", nullable=True, description="Words for it."),
    ),
    key=("repo", "path", "name"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
)


def no_spark() -> "SparkSession":
    raise AssertionError("this write needs no Spark")


def thing(repo: str, path: str, name: str, size: int | None = 1, **more: Any) -> dict[str, Any]:
    return {"repo": repo, "path": path, "name": name, "size": size, "kind": None, "tags": None, **more}


def table_of(contract: TableContract, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist([dict(row) for row in rows], schema=arrow_schema(contract.columns))


def key(asset: str, partition: str, cursor: str = "c1") -> MaterializationKey:
    return MaterializationKey(
        asset=asset, partition=partition, cursor=cursor, code_version="v", settings_hash="s", policy_hash="p"
    )


def worker_rows(spark: "SparkSession", table: pa.Table, *, tasks: int = 2, owner: str = "path") -> WorkerRows:
    """Rows that workers have, all of an owner in one task."""
    items = spark.createDataFrame(table).repartition(tasks, owner).sortWithinPartitions(owner)
    return WorkerRows(items=items, produce=lambda batches: batches)


def write(
    lake: Lake,
    contract: TableContract,
    rows: "pa.Table | DataFrame | WorkerRows",
    *,
    partitions: Sequence[str] | Mapping[str, Scope] = ("a",),
    owners: tuple[str, ...] | None = None,
    strategy: Strategy | None = None,
    run_id: str = "run-1",
    cursor: str = "c1",
    since: Mapping[str, str] | None = None,
    executor: Executor = "auto",
    spark: "SparkSession | None" = None,
) -> WriteReport:
    """Write rows as the service's callers do; partitions are repositories unless scopes are given."""
    scopes: Mapping[str, Scope] = (
        partitions
        if isinstance(partitions, Mapping)
        else {name: (Equals(column="repo", value=name),) for name in partitions}
    )
    service = UpsertService(lake, spark=(lambda: spark) if spark is not None else no_spark, executor=executor)
    batch = Batch(
        rows=rows,
        keys=tuple(key(contract.name, name, cursor) for name in scopes),
        owners=owners,
        strategy=strategy,
        since=since or {},
    )
    return service.write(contract, batch, scopes, run_id=run_id)


def rows_of(lake: Lake, contract: TableContract) -> list[dict[str, Any]]:
    """All rows, in the order of the key."""
    rows = lake.read(contract).to_pylist()
    return sorted(rows, key=lambda row: tuple(str(row[name]) for name in contract.key))
