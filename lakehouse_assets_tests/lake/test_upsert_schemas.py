"""Columns that do not fit, files without statistics, and rows set aside: what a write refuses, and what it tells."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.checked_writes import counts_of, plain_rows
from lakehouse_assets_tests.support.model_table import Counts, plain
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.writes import THINGS, rows_of, table_of, thing, write

ON_SPARK = pytest.mark.parametrize("on_spark", [False, True])


def with_extra(rows: list[dict[str, Any]]) -> pa.Table:
    table = table_of(THINGS, rows)
    return table.append_column("extra", pa.array([f"{row['name']}!" for row in rows], pa.string()))


@ON_SPARK
def test_an_unknown_column_is_refused_left_out_or_added_as_the_policy_says(lake: Lake, spark: SparkSession, on_spark):
    rows = with_extra([thing("a", "x.py", "f")])
    batch = spark.createDataFrame(rows) if on_spark else rows
    with pytest.raises(BadInputError, match="the batch has extra, which the contract has not"):
        write(lake, THINGS, batch, spark=spark)
    assert not lake.exists(THINGS)
    write(lake, replace(THINGS, schema_policy="discard"), batch, run_id="discard", spark=spark)
    assert plain_rows(local(lake.path(THINGS))) == [plain(thing("a", "x.py", "f"))]
    done = write(lake, replace(THINGS, schema_policy="evolve"), batch, run_id="evolve", spark=spark)
    assert plain_rows(local(lake.path(THINGS))) == [plain({**thing("a", "x.py", "f"), "extra": "f!"})]
    assert done.rows_updated == 1


def test_a_batch_without_a_column_that_others_brought_writes_what_a_clean_build_would(lake: Lake):
    evolving = replace(THINGS, schema_policy="evolve")
    rows = [thing("a", "x.py", "f"), thing("a", "x.py", "g")]
    clean = write(lake, evolving, table_of(THINGS, rows), run_id="clean")
    write(lake, evolving, with_extra(rows), run_id="extra")
    done = write(lake, evolving, table_of(THINGS, rows), run_id="without")
    assert counts_of(done) == Counts(updated=2)
    assert plain_rows(local(lake.path(THINGS))) == [plain(row) for row in rows]
    assert done.data_versions == clean.data_versions


def test_a_discarded_column_stays_out_of_a_table_that_has_one_of_that_name(lake: Lake):
    rows = [thing("a", "x.py", "f")]
    write(lake, replace(THINGS, schema_policy="evolve"), with_extra(rows), run_id="extra")
    done = write(lake, replace(THINGS, schema_policy="discard"), with_extra(rows), run_id="discard")
    assert plain_rows(local(lake.path(THINGS))) == [plain(rows[0])]
    assert done.rows_updated == 1


@ON_SPARK
@pytest.mark.parametrize(
    ("batch", "complaint"),
    [
        (table_of(THINGS, [thing("a", "x", "f")]).drop_columns(["name"]), "the batch lacks name"),
        (table_of(THINGS, [thing("a", "x", "f")]).drop_columns(["repo"]), "the batch lacks repo"),
        (
            table_of(THINGS, [thing("a", "x", "f")]).set_column(0, "repo", pa.array([1])),
            "repo is bigint instead of string",
        ),
        (
            table_of(THINGS, [thing("a", "x", "f")]).set_column(4, "kind", pa.array([1.5])),
            "kind is double instead of string",
        ),
        (
            table_of(THINGS, [thing("a", "x", "f")]).set_column(3, "size", pa.array(["1"])),
            "size is string instead of bigint",
        ),
    ],
    ids=["no key", "no partition", "partition of another type", "listed value of another type", "number as text"],
)
def test_a_missing_column_or_another_type_is_refused_in_words(
    lake: Lake, spark: SparkSession, batch, complaint, on_spark
):
    with pytest.raises(BadInputError, match=complaint):
        write(lake, THINGS, spark.createDataFrame(batch) if on_spark else batch)
    assert not lake.exists(THINGS)


def test_a_nullable_column_may_be_missing_and_is_null(lake: Lake):
    write(lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f", 5, kind="a")]).drop_columns(["size", "tags"]))
    assert rows_of(lake, THINGS) == [thing("a", "x.py", "f", None, kind="a")]


def test_files_outside_the_owners_are_pruned_and_counted(lake: Lake):
    for number in range(4):
        path = f"{number}.py"
        write(lake, THINGS, table_of(THINGS, [thing("a", path, "f")]), owners=(path,), run_id=path)
    write(lake, THINGS, table_of(THINGS, [thing("b", "2.py", "f")]), partitions=["b"], run_id="b")
    done = write(lake, THINGS, table_of(THINGS, [thing("a", "2.py", "f", 2)]), owners=("2.py",), run_id="again")
    assert (done.files_total, done.files_touched, done.files_unbounded) == (5, 1, 0)
    assert (done.files_added, done.files_removed) == (1, 1)
    whole = write(lake, THINGS, table_of(THINGS, [thing("a", "2.py", "f", 2)]), run_id="whole")
    assert (whole.files_total, whole.files_touched, whole.rows_deleted) == (5, 4, 3)


def test_bounds_of_long_owners_are_cut_short_in_the_log_and_still_find_their_file(lake: Lake, spark: SparkSession):
    long = "d/" * 60
    owners = tuple(f"{long}{name}.py" for name in ("a", "m", "\U0001f600", "z"))
    rows = table_of(THINGS, [thing("a", path, "f") for path in owners])
    for executor in ("delta-rs", "spark"):
        write(lake, THINGS, rows, strategy="replace_partitions", run_id=executor, executor=executor, spark=spark)
        for path in owners:
            done = write(
                lake, THINGS, table_of(THINGS, [thing("a", path, "f")]), owners=(path,), run_id=path + executor
            )
            assert (done.action, done.rows_unchanged) == ("merge", 1)


def test_a_file_without_statistics_counts_as_touched_and_is_reported(lake: Lake, spark: SparkSession):
    write(lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f")]), run_id="with statistics")
    spark.conf.set("spark.databricks.delta.stats.collect", "false")
    try:
        frame = spark.createDataFrame(table_of(THINGS, [thing("a", "y.py", "f"), thing("a", "y.py", "g")]))
        write(lake, THINGS, frame.coalesce(1), owners=("y.py",), run_id="without", executor="spark", spark=spark)
    finally:
        spark.conf.unset("spark.databricks.delta.stats.collect")
    rows = table_of(THINGS, [thing("a", "z.py", "f")])
    done = write(lake, THINGS, rows, owners=("z.py",), run_id="third")
    assert (done.files_total, done.files_touched, done.files_unbounded) == (2, 1, 1)
    assert done.action == "merge"
    replaced = write(lake, THINGS, rows, strategy="replace_partitions", run_id="fourth")
    assert counts_of(replaced) == Counts(inserted=1, deleted=4), "rows that the log does not tell are counted"


def test_rows_are_set_aside_once_however_often_the_write_is_tried_and_not_if_it_is_refused(lake: Lake):
    lenient = replace(THINGS, violations="quarantine")
    bad = thing("a", "x.py", "bad", kind="{c}")
    with pytest.raises(BadInputError, match="outside the run's partitions"):
        write(lake, lenient, table_of(THINGS, [bad, thing("b", "x.py", "f")]))
    assert not lake.exists(QUARANTINE)
    for _ in range(2):
        write(lake, lenient, table_of(THINGS, [bad]))
    assert [row["rule"] for row in lake.read(QUARANTINE).to_pylist()] == ["kind is none of a, b"]
    assert rows_of(lake, THINGS) == []
