"""Rows and tables made up for measurements of writes: items of files, a hundred in each."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
from deltalake import write_deltalake

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import REPO, Column, TableContract
from lakehouse_assets.lake.batch import WorkerRows
from lakehouse_assets.lake.ledger import Ledger, new_entry
from lakehouse_assets.lake.spark_executor import ROWS_PER_FILE
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.row_hash import Content
from lakehouse_assets_tests.support.writes import key

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PER_OWNER = 100
_OWNERS_A_BATCH = 100

ITEMS = TableContract(
    name="items",
    description="One row per item.",
    columns=(
        REPO,
        Column(name="path", type="string", description="File that owns it."),
        Column(name="name", type="string", description="Its name in the file."),
        Column(name="size", type="bigint", nullable=True, description="How large it is."),
        Column(name="text", type="string", nullable=True, description="What it says."),
    ),
    key=("repo", "path", "name"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
)


def laid_out(root: Path, rows: int) -> Lake:
    """A table as the service leaves it, files by owner and a ledger entry, but made by DuckDB: that takes seconds."""
    lake = Lake(root)
    table = lake.ensure(ITEMS)
    schema = arrow_schema(ITEMS.columns)
    with duckdb.connect() as connection:
        for first in range(0, rows, ROWS_PER_FILE):
            made = connection.sql(_made(first, min(rows, first + ROWS_PER_FILE) - first))
            write_deltalake(table, made.to_arrow_table().cast(schema), mode="append")
    known = replace(
        new_entry(key(ITEMS.name, "r"), run_id="made"),
        data_version=Content(rows=rows).version,
        table_version=table.version(),
    )
    Ledger(lake).record(ITEMS, known=[known])
    return lake


def item_rows(spark: "SparkSession", first: int, count: int, salt: int = 0) -> "DataFrame":
    return spark.range(first, first + count).selectExpr(
        "'r' AS repo",
        f"concat('package/module', lpad(CAST(id DIV {PER_OWNER} AS STRING), 7, '0'), '.py') AS path",
        f"concat('function_', lpad(CAST(id % {PER_OWNER} AS STRING), 3, '0')) AS name",
        f"id + {salt} AS size",
        f"concat('def ', id, '(value): return value * ', xxhash64(id, {salt})) AS text",
    )


def _made(first: int, count: int) -> str:
    return (
        f"SELECT 'r' AS repo, 'package/module' || lpad(CAST(i // {PER_OWNER} AS VARCHAR), 7, '0') || '.py' AS path, "
        f"'function_' || lpad(CAST(i % {PER_OWNER} AS VARCHAR), 3, '0') AS name, i AS size, "
        f"'def ' || i || '(value): return value * ' || hash(i) AS text FROM range({first}, {first + count}) made(i)"
    )


def worker_items(spark: "SparkSession", rows: int) -> WorkerRows:
    """Rows that workers make, a hundred owners to a batch."""

    def produce(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with duckdb.connect() as connection:
            for batch in batches:
                for number in batch.column("id").to_pylist():
                    made = connection.sql(_made(number * _OWNERS_A_BATCH * PER_OWNER, _OWNERS_A_BATCH * PER_OWNER))
                    yield from made.to_arrow_table().cast(arrow_schema(ITEMS.columns)).to_batches()

    count = max(1, rows // PER_OWNER // _OWNERS_A_BATCH)
    return WorkerRows(items=spark.range(0, count, 1, max(2, min(count, 20))), produce=produce)


def arrow_items(first: int, count: int, salt: int) -> pa.Table:
    rows = [
        {
            "repo": "r",
            "path": f"package/module{number // PER_OWNER:07}.py",
            "name": f"function_{number % PER_OWNER:03}",
            "size": number + salt,
            "text": f"def {number}(value): return value * {hash((number, salt))}",
        }
        for number in range(first, first + count)
    ]
    return pa.Table.from_pylist(rows, schema=arrow_schema(ITEMS.columns))


def owner_names(first: int, count: int) -> tuple[str, ...]:
    return tuple(f"package/module{number:07}.py" for number in range(first, first + count))
