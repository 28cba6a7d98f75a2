"""Rows that workers make and check, and Spark writes: what a table holds, what is refused, and what is left behind."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.contracts.table import Column
from lakehouse_assets.core.errors import BadInputError, LakehouseError, SourceError
from lakehouse_assets.lake.batch import WorkerRows
from lakehouse_assets.lake.checked_task import CheckingTask
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.row_hash import content_of
from lakehouse_assets.plan.scope import equal_scopes
from lakehouse_assets.plan.write_facts import WriteRequest
from lakehouse_assets_tests.support.checked_writes import counts_of, feed_between
from lakehouse_assets_tests.support.model_table import Counts
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.writes import THINGS, rows_of, table_of, thing, worker_rows, write

REQUEST = WriteRequest(scopes=equal_scopes("repo", ["a"]), strategy="upsert", key="k")


def content(rows: list[dict[str, Any]]) -> str:
    return content_of(THINGS.columns, [[row[c.name] for row in rows] for c in THINGS.columns]).version


def data_files(lake: Lake) -> list[Path]:
    return [path for path in local(lake.path(THINGS)).rglob("*.parquet") if "_delta_log" not in path.parts]


def things(repo: str, owners: int, each: int = 3, size: int = 1) -> list[dict[str, Any]]:
    return [thing(repo, f"{i:03}.py", f"f{j}", size) for i in range(owners) for j in range(each)]


def test_a_first_load_is_checked_written_and_told_in_one_pass(lake: Lake, spark: SparkSession):
    rows = [*things("a", 20), *things("b", 5)]
    done = write(lake, THINGS, worker_rows(spark, table_of(THINGS, rows)), partitions=["a", "b"], spark=spark)
    assert rows_of(lake, THINGS) == rows
    assert (done.action, done.executor, done.rows_inserted) == ("append", "spark", 75)
    assert done.data_versions == {"a": content(rows[:60]), "b": content(rows[60:])}
    assert Ledger(lake).latest([THINGS])[("things", "b")].data_version == content(rows[60:])
    assert sum(feed_between(local(lake.path(THINGS)), 0).values()) == 75
    frame = spark.read.format("delta").load(str(lake.path(THINGS)))
    assert frame.where("repo = 'a' AND path = '007.py' AND size = 1").count() == 3, "by the statistics that Spark wrote"
    again = write(lake, THINGS, worker_rows(spark, table_of(THINGS, rows)), partitions=["a", "b"], spark=spark)
    assert again.action == "replayed"
    assert len(data_files(lake)) == done.files_added


def test_partitions_are_replaced_and_others_stay(lake: Lake, spark: SparkSession):
    write(lake, THINGS, table_of(THINGS, [*things("a", 4), *things("b", 1)]), partitions=["a", "b"])
    new = things("a", 6, size=2)
    done = write(
        lake, THINGS, worker_rows(spark, table_of(THINGS, new)), strategy="replace_partitions", run_id="2", spark=spark
    )
    assert rows_of(lake, THINGS) == [*new, *things("b", 1)]
    assert (done.action, done.executor) == ("replace", "spark")
    assert counts_of(done) == Counts(inserted=18, deleted=12)
    assert done.data_versions == {"a": content(new)}
    for by in (None, spark):
        changes = [change for change, _ in feed_between(local(lake.path(THINGS)), done.version_before, by).elements()]
        assert (changes.count("insert"), changes.count("delete"), len(changes)) == (18, 12, 30)


@pytest.mark.parametrize("executor", ["delta-rs", "spark"])
def test_where_rows_are_there_already_they_are_compared(lake: Lake, spark: SparkSession, executor):
    write(lake, THINGS, table_of(THINGS, things("a", 4)))
    new = [*things("a", 3), thing("a", "new.py", "f")]
    rows = worker_rows(spark, table_of(THINGS, [{**new[0], "size": None}, *new[1:]]))
    done = write(lake, THINGS, rows, run_id="2", executor=executor, spark=spark)
    assert (done.action, done.executor) == ("merge", executor)
    assert counts_of(done) == Counts(inserted=1, updated=1, deleted=3, unchanged=8)
    assert rows_of(lake, THINGS)[0]["size"] is None
    assert Ledger(lake).latest([THINGS])[("things", "a")].data_version == content(rows_of(lake, THINGS))


def test_rows_that_are_there_as_they_are_change_nothing(lake: Lake, spark: SparkSession):
    write(lake, THINGS, table_of(THINGS, things("a", 4)))
    done = write(lake, THINGS, worker_rows(spark, table_of(THINGS, things("a", 4))), run_id="2", spark=spark)
    assert counts_of(done) == Counts(unchanged=12)
    assert not feed_between(local(lake.path(THINGS)), done.version_before)


def test_only_keys_that_are_new_are_added_where_the_contract_says_so(lake: Lake, spark: SparkSession):
    write(lake, THINGS, table_of(THINGS, things("a", 2)))
    known = [thing("a", "000.py", "f0", 9), thing("a", "z.py", "f")]
    rows = worker_rows(spark, table_of(THINGS, known))
    done = write(lake, THINGS, rows, strategy="append_new", run_id="2", spark=spark)
    assert (done.action, done.executor, done.rows_inserted, done.rows_unchanged) == ("merge", "spark", 1, 1)
    assert rows_of(lake, THINGS) == [*things("a", 2), thing("a", "z.py", "f")]


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([thing("a", "x.py", "f"), thing("b", "x.py", "f")], r"outside the run's partitions in 1 rows.*'b'"),
        (
            [thing("a", "x.py", "f"), thing("a", "x.py", "f", 2)],
            r"more than once in 1 rows, such as \(repo='a', path='x",
        ),
        ([thing("a", "x.py", None)], r"name is NULL in 1 rows, such as \(repo='a', path='x.py', name=None\)"),  # type: ignore[arg-type]
        ([thing("a", "x.py", "f", kind="c")], "kind is none of a, b in 1 rows"),
    ],
)
def test_rows_that_break_the_contract_are_named_and_nothing_is_left(lake: Lake, spark: SparkSession, rows, complaint):
    table = table_of(THINGS, [*things("a", 5), *rows])
    with pytest.raises(BadInputError, match=complaint):
        write(lake, THINGS, worker_rows(spark, table), spark=spark)
    assert rows_of(lake, THINGS) == []


def test_an_owner_that_is_not_among_the_batch_s_is_refused(lake: Lake, spark: SparkSession):
    rows = worker_rows(spark, table_of(THINGS, [thing("a", "x.py", "f"), thing("a", "y.py", "f")]))
    with pytest.raises(BadInputError, match=r"not of the batch's owners in 1 rows.*path='y.py'"):
        write(lake, THINGS, rows, owners=("x.py",), spark=spark)
    assert rows_of(lake, THINGS) == []


def test_work_is_dealt_so_that_one_task_answers_for_an_owner(lake: Lake, spark: SparkSession):
    rows = [thing("a", "x.py", f"f{number:02}") for number in range(40)]
    apart = spark.createDataFrame(table_of(THINGS, rows)).repartition(2, "name")
    write(lake, THINGS, WorkerRows(items=apart, produce=lambda batches: batches), spark=spark)
    assert rows_of(lake, THINGS) == rows


def test_work_that_cannot_be_dealt_by_owner_is_refused(lake: Lake, spark: SparkSession):
    items = spark.createDataFrame([(1,)], "number int")
    with pytest.raises(BadInputError, match="the work items lack repo, path"):
        write(lake, THINGS, WorkerRows(items=items, produce=lambda batches: batches), spark=spark)


def test_rows_of_an_owner_that_no_work_item_names_are_refused(lake: Lake, spark: SparkSession):
    def produce(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches
        yield from table_of(THINGS, [thing("a", "strange.py", "f")]).to_batches()

    items = spark.createDataFrame(table_of(THINGS, things("a", 2)))
    with pytest.raises(BadInputError, match=r"path='strange.py', name='f'\), are of none of their task"):
        write(lake, THINGS, WorkerRows(items=items, produce=produce), spark=spark)
    assert rows_of(lake, THINGS) == []


def test_rows_of_an_owner_that_come_in_two_parts_are_refused(
    lake: Lake, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
):
    rows = things("a", 3, each=4)

    def produce(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        made = [row for batch in batches for row in batch.column("path").to_pylist()]
        for number in (0, 1, 2, 0) if made else ():
            yield from table_of(THINGS, rows[number * 4 : number * 4 + 4]).to_batches()

    task = CheckingTask(contract=THINGS, produce=produce, request=REQUEST)
    monkeypatch.setattr("lakehouse_assets.lake.checked_task._ROWS_AT_ONCE", 4)
    with pytest.raises(RuntimeError, match=r"path='000.py'.*come in several parts"):
        list(task(iter(table_of(THINGS, rows).to_batches())))


def test_files_are_of_bounded_size_and_in_the_order_of_their_owners(
    lake: Lake, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("lakehouse_assets.lake.spark_executor.ROWS_PER_FILE", 10)
    rows = things("a", 20, each=4)
    done = write(lake, THINGS, worker_rows(spark, table_of(THINGS, rows)), spark=spark)
    assert rows_of(lake, THINGS) == rows
    assert done.files_added >= 8
    later = table_of(THINGS, [thing("a", "003.py", f"f{number}", 2) for number in range(4)])
    changed = write(lake, THINGS, later, owners=("003.py",), run_id="later")
    assert changed.files_total == done.files_added
    assert changed.files_touched <= 2
    assert changed.rows_updated == 4


def test_a_worker_s_error_comes_home_as_it_was_raised(lake: Lake, spark: SparkSession):
    def produce(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches
        raise SourceError(subject="repo a", seen="object 12ab is corrupt", why="w", remedy="git fsck")

    items = spark.createDataFrame(table_of(THINGS, things("a", 2)))
    with pytest.raises(SourceError, match="object 12ab is corrupt"):
        write(lake, THINGS, WorkerRows(items=items, produce=produce), spark=spark)
    assert rows_of(lake, THINGS) == []


WORDS = replace(
    THINGS,
    name="words",
    columns=THINGS.columns[1:],
    key=("path", "name"),
    owner=None,
    partition_by=(),
    strategy="append_new",
)


def words(names: str) -> pa.Table:
    return table_of(WORDS, [{**thing("a", "x.py", name), "repo": None} for name in names])


def test_a_table_without_owners_is_dealt_by_its_keys(lake: Lake, spark: SparkSession):
    for run, names in enumerate(("abcd", "defg")):
        rows = worker_rows(spark, words(names), owner="name")
        done = write(lake, WORDS, rows, run_id=str(run), spark=spark)
        assert (done.executor, done.rows_inserted) == ("spark", 4 - run)
    assert [row["name"] for row in rows_of(lake, WORDS)] == list("abcdefg")
    twice = WorkerRows(items=spark.createDataFrame(words("hh")).repartition(2), produce=lambda batches: batches)
    with pytest.raises(BadInputError, match=r"more than once.*x\.py"):
        write(lake, WORDS, twice, run_id="twice", spark=spark)
    assert [row["name"] for row in rows_of(lake, WORDS)] == list("abcdefg")


def test_a_constraint_of_the_table_is_asked(lake: Lake, spark: SparkSession):
    write(lake, THINGS, table_of(THINGS, things("a", 4)))
    lake.open(THINGS).alter.add_constraint({"small": "size < 10"})
    new = [*things("a", 3), thing("a", "new.py", "f")]
    done = write(lake, THINGS, worker_rows(spark, table_of(THINGS, new)), run_id="2", spark=spark)
    assert counts_of(done) == Counts(inserted=1, deleted=3, unchanged=9)
    large = worker_rows(spark, table_of(THINGS, [*new, thing("a", "new.py", "g", 11)]))
    with pytest.raises((LakehouseError, PySparkException, Py4JJavaError), match="small"):
        write(lake, THINGS, large, run_id="3", spark=spark)
    assert rows_of(lake, THINGS) == new


def test_a_contract_whose_key_does_not_tell_the_owner_is_refused(lake: Lake, spark: SparkSession):
    rows = worker_rows(spark, table_of(THINGS, things("a", 2)))
    with pytest.raises(BadInputError, match=r"its owner \(path\) is not part of its key"):
        write(lake, replace(THINGS, key=("repo", "name")), rows, spark=spark)
    assert not lake.exists(THINGS)


def test_missing_nullable_columns_are_null_and_others_are_refused(lake: Lake, spark: SparkSession):
    table = table_of(THINGS, things("a", 2))
    write(lake, THINGS, worker_rows(spark, table.drop_columns(["size"])), spark=spark)
    assert {row["size"] for row in rows_of(lake, THINGS)} == {None}
    extra = worker_rows(spark, table.append_column("extra", table["name"]))
    for policy in ("freeze", "evolve"):
        contract = replace(THINGS, schema_policy=policy)
        with pytest.raises(BadInputError, match="the batch has extra, which the contract has not"):
            write(lake, contract, extra, strategy="replace_partitions", run_id=policy, spark=spark)


def test_a_new_column_of_the_contract_is_added_to_the_table_first(lake: Lake, spark: SparkSession):
    write(lake, THINGS, table_of(THINGS, things("a", 2)))
    note = Column(name="note", type="binary", nullable=True, description="New.")
    grown = replace(THINGS, columns=(*THINGS.columns, note), schema_policy="evolve", audited=True)
    rows = table_of(grown, [{**row, "note": b"\xff"} for row in things("b", 2)])
    done = write(lake, grown, worker_rows(spark, rows), partitions=["b"], run_id="2", spark=spark)
    assert done.executor == "spark"
    assert {row["note"] for row in lake.read(grown).to_pylist()} == {None, b"\xff"}
    assert {row["written_by"] for row in lake.read(grown, columns=["written_by"]).to_pylist()} == {None, "2"}


def test_rows_to_be_set_aside_are_set_aside(lake: Lake, spark: SparkSession):
    lenient = replace(THINGS, violations="quarantine")
    rows = worker_rows(spark, table_of(THINGS, [thing("a", "x.py", "f"), thing("a", "x.py", "bad", kind="c")]))
    assert write(lake, lenient, rows, spark=spark).rows_quarantined == 1
    assert [row["name"] for row in rows_of(lake, THINGS)] == ["f"]
    assert lake.read(QUARANTINE).num_rows == 1


def test_sensitive_values_are_not_named(lake: Lake, spark: SparkSession):
    secret = tuple(replace(each, sensitive=True) if each.name == "name" else each for each in THINGS.columns)
    contract = replace(THINGS, columns=secret)
    table = table_of(THINGS, [thing("a", "x.py", "token"), thing("a", "x.py", "token", 2)])
    for rows in (table, spark.createDataFrame(table), worker_rows(spark, table)):
        with pytest.raises(BadInputError, match=r"path='x.py', name=‹redacted›") as refused:
            write(lake, contract, rows, spark=spark)
        assert "token" not in str(refused.value)
