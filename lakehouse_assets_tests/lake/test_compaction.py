"""Compaction: the same rows in fewer files, and nobody downstream is told."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.maintenance import MAINTENANCE
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.lake import compaction
from lakehouse_assets.lake.change_feed import present_cursor, read_changes
from lakehouse_assets.lake.compaction import compact_table, planned
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.spark_executor import session_settings
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.compaction import FileSize
from lakehouse_assets.plan.scope import equal_scopes
from lakehouse_assets_tests.support.writes import THINGS, no_spark, rows_of, table_of, thing, write

A = equal_scopes("repo", ["a"])


def grow(lake: Lake, repo: str, files: int = 10) -> None:
    """A file of the table for each update: what is new finds no file whose owners are around it."""
    for number in range(files):
        path = f"{number}.py"
        rows = table_of(THINGS, [thing(repo, path, name) for name in ("f", "g")])
        write(lake, THINGS, rows, partitions=(repo,), owners=(path,), run_id=f"{repo}-{number}")


def files_of(lake: Lake, repo: str) -> int:
    return sum(file.partition["repo"] == repo for file in table_facts(lake.open(THINGS), THINGS).files)


def test_rows_stay_and_files_go(lake: Lake):
    grow(lake, "a")
    grow(lake, "b", files=2)
    before = rows_of(lake, THINGS)
    assert files_of(lake, "a") == 10
    plan = compact_table(lake, THINGS, spark=no_spark)
    assert (plan.files, plan.files_after) == (12, 3)
    assert rows_of(lake, THINGS) == before
    assert (files_of(lake, "a"), files_of(lake, "b")) == (1, 2)
    assert not planned(lake, THINGS).bins


def test_nobody_downstream_sees_it(lake: Lake):
    grow(lake, "a")
    cursor = present_cursor(lake, THINGS)
    entries = Ledger(lake).latest([THINGS])
    compact_table(lake, THINGS, spark=no_spark)
    nothing = read_changes(lake, THINGS, cursor, A)
    assert (nothing.way, nothing.count) == ("nothing", 0)
    assert Ledger(lake).latest([THINGS]) == entries
    changed = table_of(THINGS, [thing("a", "3.py", "f", 9), thing("a", "3.py", "g")])
    write(lake, THINGS, changed, partitions=("a",), owners=("3.py",), run_id="later")
    seen = read_changes(lake, THINGS, cursor, A)
    assert (seen.way, seen.after.to_pylist()) == ("feed", [thing("a", "3.py", "f", 9)])


def test_changes_before_and_after_it_are_read_across_it(lake: Lake):
    grow(lake, "a")
    cursor = present_cursor(lake, THINGS)
    for number, run in ((1, "before"), (2, "after")):
        path = f"{number}.py"
        write(lake, THINGS, table_of(THINGS, []), partitions=("a",), owners=(path,), run_id=run)
        compact_table(lake, THINGS, spark=no_spark, enough=1)
    seen = read_changes(lake, THINGS, cursor, A)
    assert (seen.way, [row["path"] for row in seen.deleted.to_pylist()]) == ("feed", ["1.py"] * 2 + ["2.py"] * 2)
    assert seen.count == 4


def test_data_versions_go_on_from_where_they_were(lake: Lake):
    grow(lake, "a")
    compact_table(lake, THINGS, spark=no_spark)
    changed = table_of(THINGS, [thing("a", "3.py", "f", 9)])
    after = write(lake, THINGS, changed, partitions=("a",), owners=("3.py",), run_id="later")
    whole = write(lake, THINGS, table_of(THINGS, rows_of(lake, THINGS)), partitions=("a",), run_id="whole")
    assert whole.rows_changed == 0
    assert after.data_versions == whole.data_versions


def test_files_whose_owners_overlap_are_put_in_order_by_spark(lake: Lake, spark: SparkSession):
    """Paths have their beginning in common, as those of a repository do."""
    size = FileSize(rows=40, bytes=compaction.SIZE.bytes)
    names = [f"packages/components/{number:03}.py" for number in range(100)]
    for number in range(4):
        mine = names[number::4]
        rows = table_of(THINGS, [thing("a", path, name) for path in mine for name in ("f", "g")])
        write(lake, THINGS, rows, owners=tuple(mine), run_id=str(number))
    before, made = rows_of(lake, THINGS), compaction.SIZE
    try:
        compaction.SIZE = size
        compact_table(lake, THINGS, spark=lambda: spark, enough=1)
        assert not [each for each in planned(lake, THINGS, enough=1).bins if each.reason == "out of order"]
    finally:
        compaction.SIZE = made
    assert rows_of(lake, THINGS) == before
    files = sorted((file.owner_min, file.owner_max) for file in table_facts(lake.open(THINGS), THINGS).files)
    assert len(files) > 1
    assert all(one[1] <= other[0] for one, other in pairwise(files))


def test_an_order_by_spark_takes_nothing_of_what_a_merge_beside_it_has_set_for_itself(
    lake: Lake, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
):
    grow(lake, "a")
    monkeypatch.setattr(compaction, "beyond_delta_rs", lambda _: ("a feature",))
    started = threading.Event()

    def by_spark() -> SparkSession:
        started.set()
        return spark

    with ThreadPoolExecutor(1) as pool:
        with session_settings(spark, {"spark.databricks.delta.commitInfo.userMetadata": "a MERGE's own"}):
            done = pool.submit(compact_table, lake, THINGS, spark=by_spark)
            assert started.wait(60)
            with pytest.raises(TimeoutError):
                done.result(timeout=3)
        done.result(timeout=120)
    (commit,) = lake.open(THINGS).history(1)
    assert (commit["operation"], commit.get("userMetadata")) == ("OPTIMIZE", None)


def test_a_table_without_owner_or_partition_is_compacted_too(lake: Lake):
    grow(lake, "a")
    rows = lake.read(WRITES).num_rows
    assert rows == 10
    plan = compact_table(lake, WRITES, spark=no_spark)
    assert (plan.files, lake.size(WRITES).files, lake.read(WRITES).num_rows) == (10, 1, rows)


def test_the_commit_says_what_it_is_and_maintenance_what_it_did(lake: Lake):
    grow(lake, "a")
    compact_table(lake, THINGS, spark=no_spark)
    version = lake.open(THINGS).version()
    log = lake.path(THINGS) / "_delta_log" / f"{version:020}.json"
    actions: list[dict[str, Any]] = [json.loads(line) for line in log.read_text().split("\n") if line]
    assert actions[0]["commitInfo"]["operation"] == "OPTIMIZE"
    assert {(action.get("add") or action["remove"])["dataChange"] for action in actions[1:]} == {False}
    (row,) = lake.rows(MAINTENANCE)
    assert (row["asset"], row["action"], row["files_before"], row["files_after"]) == ("things", "optimize", 10, 1)


def test_a_writer_between_plan_and_commit_keeps_its_rows(lake: Lake, monkeypatch: pytest.MonkeyPatch):
    grow(lake, "a")
    plan = planned(lake, THINGS)
    write(lake, THINGS, table_of(THINGS, [thing("a", "3.py", "f", 9)]), owners=("3.py",), run_id="meanwhile")
    before = rows_of(lake, THINGS)
    monkeypatch.setattr(compaction, "planned", lambda *_, **__: plan)
    compact_table(lake, THINGS, spark=no_spark)
    assert rows_of(lake, THINGS) == before


def test_spark_reads_the_same_changes_across_a_compaction(lake: Lake, spark: Any):
    grow(lake, "a")
    start = lake.open(THINGS).version() + 1
    compact_table(lake, THINGS, spark=no_spark)
    write(lake, THINGS, table_of(THINGS, [thing("a", "3.py", "f", 9)]), owners=("3.py",), run_id="later")
    reader = spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", start)
    rows = reader.load(str(lake.path(THINGS))).select("_change_type", "path", "name").collect()
    assert sorted(map(tuple, rows)) == [
        ("delete", "3.py", "g"),
        ("update_postimage", "3.py", "f"),
        ("update_preimage", "3.py", "f"),
    ]
    assert spark.read.format("delta").load(str(lake.path(THINGS))).count() == len(rows_of(lake, THINGS))
    assert isinstance(lake.read(THINGS), pa.Table)
