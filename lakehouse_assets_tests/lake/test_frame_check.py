"""Frames on Spark that workers check: what is told does not depend on who had which rows."""

from typing import Any

from pyspark.sql import SparkSession

from lakehouse_assets.lake.frame_check import frame_check
from lakehouse_assets.lake.row_checks import violations_in
from lakehouse_assets.plan.row_hash import content_of
from lakehouse_assets.plan.scope import equal_scopes
from lakehouse_assets.plan.write_facts import Violation, WriteRequest
from lakehouse_assets_tests.support.writes import THINGS, table_of, thing

REQUEST = WriteRequest(scopes=equal_scopes("repo", ["a"]), strategy="upsert", owners=("x.py",), key="k")

GOOD = [thing("a", "x.py", f"f{number:02}", tags=["t", None]) for number in range(40)]
BAD = [
    thing("a", "x.py", "f07", size=2),
    thing("a", "x.py", "f07", size=3),
    thing("a", "x.py", "f11", size=2),
    thing("a", "x.py", "odd", kind="z"),
    thing("a", "other.py", "f"),
    thing("b", "x.py", "f"),
    {**thing("a", "x.py", "none"), "name": None},
]


def checked(spark: SparkSession, rows: list[dict[str, Any]], slices: int) -> Any:
    table = table_of(THINGS, rows)
    frame = spark.createDataFrame(table).repartition(slices)
    return frame_check(THINGS, REQUEST, frame, {each.name: each.type for each in THINGS.columns})


def test_rows_that_hold_are_told_by_what_their_partitions_hold(spark: SparkSession):
    contents, violations = checked(spark, GOOD, 3)
    expected = content_of(THINGS.columns, [[row[each.name] for row in GOOD] for each in THINGS.columns])
    assert (contents, violations) == ({("a",): expected}, ())
    assert checked(spark, [], 1) == ({}, ())


def test_what_workers_find_is_what_one_process_finds_in_the_same_order(spark: SparkSession):
    rows = [*GOOD, *BAD]
    here = violations_in(THINGS, REQUEST, table_of(THINGS, rows))
    assert [(each.rule, each.rows) for each in here] == [
        ("name is NULL", 1),
        ("kind is none of a, b", 1),
        ("outside the run's partitions", 1),
        ("not of the batch's owners", 1),
        ("the key stands more than once", 3),
    ]
    assert here[-1] == Violation(
        rule="the key stands more than once",
        rows=3,
        examples=("(repo='a', path='x.py', name='f07')", "(repo='a', path='x.py', name='f11')"),
    )
    for slices in (1, 4):
        assert checked(spark, rows, slices)[1] == here
