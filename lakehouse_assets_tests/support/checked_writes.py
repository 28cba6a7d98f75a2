"""A write done by the service and by the model, and everything that has to agree compared."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from lakehouse_assets.contracts.table import Strategy, TableContract
from lakehouse_assets.lake.report import WriteReport
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.scope import Scope
from lakehouse_assets.plan.write_plan import Executor
from lakehouse_assets_tests.support.model_table import Counts, ModelTable, PlainRow, plain
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.writes import table_of, worker_rows, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ENGINES = {"delta-rs": "delta-rs", "spark": "Apache-Spark"}
"""By executor how the engine's name in its commits begins."""

Feed = Counter[tuple[str, PlainRow]]


def checked_write(
    lake: Lake,
    model: ModelTable,
    contract: TableContract,
    rows: Sequence[Mapping[str, Any]],
    *,
    scopes: Mapping[str, Scope],
    strategy: Strategy,
    owners: tuple[str, ...] | None = None,
    run_id: str,
    executor: Executor = "delta-rs",
    spark: "SparkSession | None" = None,
    feed_by: "SparkSession | None" = None,
    compare_feed: bool = True,
    by_workers: bool = False,
) -> WriteReport:
    """Write, and compare rows, counts, data versions and the change feed with the model's.

    With `by_workers` the rows are made by workers, and who writes them is left to the plan.
    """
    expected = model.write(contract, rows, scopes=scopes.values(), strategy=strategy, owners=owners)
    version = lake.open(contract).version() if lake.exists(contract) else -1
    table = table_of(contract, rows)
    made = worker_rows(spark, table, tasks=3) if by_workers and spark is not None else table
    done = write(
        lake, contract, made, partitions=scopes, strategy=strategy, owners=owners,
        run_id=run_id, executor="auto" if by_workers else executor, spark=spark,
    )  # fmt: skip
    assert plain_rows(local(lake.path(contract))) == model.plain_rows()
    assert counts_of(done) == expected.counts
    assert done.data_versions == {name: model.data_version(scope) for name, scope in scopes.items()}
    see_writer(lake, contract, done)
    assert by_workers or executor == "delta-rs" or done.executor == "spark" or not done.rows_changed
    if compare_feed:
        assert feed_between(local(lake.path(contract)), version, feed_by) == expected.feed
    return done


def see_writer(lake: Lake, contract: TableContract, done: WriteReport) -> None:
    """The write names the writer of its commit with its version, and shows the statement that made the commit."""
    info = commit_info(lake, contract, done.version_after)
    assert info["engineInfo"].startswith(_ENGINES[done.executor])
    if done.action != "replayed":
        assert done.engine == info["engineInfo"]
    if done.rows_changed and done.action != "replayed":
        begins = {"MERGE": ("MERGE INTO ", "DeltaTable.merge("), "WRITE": ("DataFrameWriter.", "write_deltalake(")}
        assert done.statement.startswith(begins[info["operation"]][0 if done.executor == "spark" else 1])
        assert info["operationParameters"].get("mode", "Overwrite") == "Overwrite"
    else:
        assert not done.statement


def commit_info(lake: Lake, contract: TableContract, version: int) -> dict[str, Any]:
    """The commit's own words, from the log's file."""
    entry = local(lake.path(contract)) / "_delta_log" / f"{version:020}.json"
    (info,) = [json.loads(line)["commitInfo"] for line in entry.read_text().split("\n") if '"commitInfo"' in line]
    return info


def counts_of(done: WriteReport) -> Counts:
    return Counts(
        inserted=done.rows_inserted,
        updated=done.rows_updated,
        deleted=done.rows_deleted,
        unchanged=done.rows_unchanged,
    )


def plain_rows(path: Path) -> list[PlainRow]:
    """All rows with all columns that the table has, those beyond its contract too."""
    reader = QueryBuilder().register("t", DeltaTable(path)).execute("SELECT * FROM t")
    return sorted(plain(row) for row in pa.table(reader.read_all()).to_pylist())


def feed_between(path: Path, after: int, spark: "SparkSession | None" = None) -> Feed:
    """The change feed of all versions after one; by Spark if there is one, else by delta-rs."""
    latest = DeltaTable(path).version()
    if latest <= after:
        return Counter()
    if spark is not None:
        reader = spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", after + 1)
        found = reader.load(str(path)).toArrow().to_pylist()
    else:
        read = DeltaTable(path).load_cdf(starting_version=after + 1, ending_version=latest)
        found = pa.table(read.read_all()).to_pylist()
    feed: Feed = Counter()
    for row in found:
        change = row.pop("_change_type")
        feed[(change, plain({name: value for name, value in row.items() if not name.startswith("_commit_")}))] += 1
    return feed
