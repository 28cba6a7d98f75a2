"""Tables for which another program has turned a feature of Delta on: read and written right, or refused by its name."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.repositories import REPOSITORIES
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.spark_executor import session_settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.repos import registered
from lakehouse_assets_tests.support.writes import THINGS, rows_of, table_of, thing, write

Names = list[tuple[str, int]]
ROWS = [thing("a", "x.py", name, number) for number, name in enumerate("fgh")]
SET = "ALTER TABLE {table} SET TBLPROPERTIES"
VECTORS = f"{SET} ('delta.enableDeletionVectors' = 'true')"
MAPPING = f"{SET} ('delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5')"
WIDENING = f"{SET} ('delta.enableTypeWidening' = 'true')"
TRACKING = f"{SET} ('delta.enableRowTracking' = 'true')"
CHECKPOINTS = f"{SET} ('delta.checkpointPolicy' = 'v2')"
DELETE = "DELETE FROM {table} WHERE name = 'g'"


def made(lake: Lake, spark: SparkSession, statements: Sequence[str]) -> None:
    """A table of three rows, behind which another program then does its own."""
    write(lake, THINGS, table_of(THINGS, ROWS))
    table = f"delta.`{lake.path(THINGS)}`"
    with session_settings(spark, {"spark.databricks.delta.delete.deletionVectors.persistent": "true"}):
        for each in statements:
            spark.sql(each.format(table=table)).collect()


def by_files(lake: Lake) -> Names:
    with local_sql() as connection:
        return connection.sql(f"SELECT name, size FROM {relation(lake, THINGS)} ORDER BY name").fetchall()


def by_delta_rs(lake: Lake) -> Names:
    return [(row["name"], row["size"]) for row in rows_of(lake, THINGS)]


def by_spark(lake: Lake, spark: SparkSession) -> Names:
    query = f"SELECT name, size FROM delta.`{lake.path(THINGS)}` ORDER BY name"
    return [(row["name"], row["size"]) for row in spark.sql(query).collect()]


@pytest.mark.parametrize(
    ("statements", "left"),
    [
        ([VECTORS], "fgh"),
        ([VECTORS, DELETE], "fh"),
        ([VECTORS, DELETE, "REORG TABLE {table} APPLY (PURGE)"], "fh"),
        ([MAPPING], "fgh"),
        ([MAPPING, "ALTER TABLE {table} ADD COLUMN more STRING"], "fgh"),
        ([WIDENING], "fgh"),
        ([TRACKING, DELETE], "fh"),
        ([CHECKPOINTS, DELETE], "fh"),
    ],
    ids=["vectors", "a vector", "purged", "mapping", "mapped", "widening", "row tracking", "v2 checkpoints"],
)
def test_rows_are_read_right_or_refused_by_the_feature_s_name_and_written_by_the_engine_that_has_it(
    lake: Lake, spark: SparkSession, statements: list[str], left: str
):
    made(lake, spark, statements)
    expected = [(name, "fgh".index(name)) for name in left]
    readers: list[Callable[[Lake], Names]] = [by_files, by_delta_rs]
    assert all(right_or_refused(reader, lake, expected) for reader in readers)
    assert by_spark(lake, spark) == expected
    done = write(
        lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f", 9)]), owners=(), run_id="2", spark=spark, cursor="c2"
    )
    assert (done.executor, done.rows_updated, done.rows_inserted, done.rows_deleted) == ("spark", 1, 0, 0)
    assert "the table asks its writers for" in done.executor_reason
    expected[0] = ("f", 9)
    assert by_spark(lake, spark) == expected
    assert all(right_or_refused(reader, lake, expected) for reader in readers)


def right_or_refused(reader: Callable[[Lake], Names], lake: Lake, expected: Names) -> bool:
    """Whether a reader gives the rows, or names the feature."""
    try:
        found = reader(lake)
    except LakeStateError as told:
        return re.search("(column mapping|deletion vectors|TypeWidening).*which another program", told.seen) is not None
    return found == expected


def test_what_the_message_says_brings_deletion_vectors_out_of_the_way(lake: Lake, spark: SparkSession):
    made(lake, spark, [VECTORS, DELETE])
    with pytest.raises(
        LakeStateError, match=r"deletion vectors.*run REORG TABLE (.*) APPLY \(PURGE\) in Spark"
    ) as told:
        by_files(lake)
    statement = re.search(r"REORG TABLE .* APPLY \(PURGE\)", told.value.remedy)
    assert statement is not None
    spark.sql(statement[0]).collect()
    assert by_files(lake) == [("f", 0), ("h", 2)]


def test_what_the_message_says_brings_column_mapping_out_of_the_way(lake: Lake, spark: SparkSession):
    made(lake, spark, [MAPPING])
    with pytest.raises(LakeStateError, match=r"column mapping") as told:
        by_files(lake)
    statement = re.search(r"ALTER TABLE .* DROP FEATURE columnMapping", told.value.remedy)
    assert statement is not None
    spark.sql(statement[0]).collect()
    assert by_files(lake) == [("f", 0), ("g", 1), ("h", 2)]


def test_the_registry_is_written_by_spark_where_its_table_asks_for_what_delta_rs_has_not(
    lake: Lake, spark: SparkSession, tmp_path: Path
):
    registry = Registry(lake)
    registry.add([registered(tmp_path / "one", name="one"), registered(tmp_path / "two", name="two")])
    spark.sql(f"{TRACKING}".format(table=f"delta.`{lake.path(REPOSITORIES)}`")).collect()
    registry.add([registered(tmp_path / "three", name="three")])
    registry.remove(["one"])
    assert list(registry.all()) == ["three", "two"]
    told = [row for row in lake.rows(WRITES) if row["asset"] == "repositories"]
    assert sorted(row["executor"] for row in told) == ["delta-rs", "spark", "spark"]


def test_our_own_writes_leave_no_deletion_vector_where_somebody_has_turned_them_on(lake: Lake, spark: SparkSession):
    made(lake, spark, [VECTORS])
    for number, strategy in enumerate(("upsert", "delete_matching", "upsert")):
        rows: list[dict[str, Any]] = [thing("a", "x.py", "gh"[number % 2], 7)]
        write(lake, THINGS, table_of(THINGS, rows), owners=() if strategy == "upsert" else None,
              strategy=strategy, run_id=f"run {number}", spark=spark)  # fmt: skip
    log: Path = local(lake.path(THINGS)) / "_delta_log"
    assert 'deletionVector":{' not in "".join(path.read_text() for path in log.glob("*.json"))
    assert by_files(lake) == [("f", 0), ("g", 7)]
