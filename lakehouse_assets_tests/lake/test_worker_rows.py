"""Rows that workers make and write themselves: what a table holds, what is refused, and what is left behind."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake.exceptions import DeltaError
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.contracts.table import Column
from lakehouse_assets.core.errors import BadInputError, SourceError
from lakehouse_assets.lake.batch import WorkerRows
from lakehouse_assets.lake.data_files import write_data_file
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.worker_stage import FileStage
from lakehouse_assets.plan.row_hash import content_of
from lakehouse_assets.plan.write_facts import BatchFacts
from lakehouse_assets_tests.support.checked_writes import counts_of, feed_between
from lakehouse_assets_tests.support.model_table import Counts
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.writes import THINGS, rows_of, table_of, thing, worker_rows, write


def content(rows: list[dict[str, Any]]) -> str:
    return content_of(THINGS.columns, [[row[c.name] for row in rows] for c in THINGS.columns]).version


def data_files(lake: Lake) -> list[Path]:
    return [path for path in local(lake.path(THINGS)).rglob("*.parquet") if "_delta_log" not in path.parts]


def changes_of(lake: Lake) -> list[Path]:
    return [path for path in data_files(lake) if "_change_data" in path.parts]


def things(repo: str, owners: int, each: int = 3, size: int = 1) -> list[dict[str, Any]]:
    return [thing(repo, f"{i:03}.py", f"f{j}", size) for i in range(owners) for j in range(each)]


def test_a_first_load_is_committed_from_the_workers_files(lake: Lake, spark: SparkSession):
    rows = [*things("a", 20), *things("b", 5)]
    done = write(lake, THINGS, worker_rows(spark, table_of(THINGS, rows)), partitions=["a", "b"], spark=spark)
    assert rows_of(lake, THINGS) == rows
    assert (done.action, done.executor, done.rows_inserted) == ("append", "workers", 75)
    assert done.data_versions == {"a": content(rows[:60]), "b": content(rows[60:])}
    assert Ledger(lake).latest([THINGS])[("things", "b")].data_version == content(rows[60:])
    assert sum(feed_between(local(lake.path(THINGS)), 0).values()) == 75
    frame = spark.read.format("delta").load(str(lake.path(THINGS)))
    assert frame.where("repo = 'a' AND path = '007.py' AND size = 1").count() == 3, "Spark prunes by our statistics"
    again = write(lake, THINGS, worker_rows(spark, table_of(THINGS, rows)), partitions=["a", "b"], spark=spark)
    assert again.action == "replayed"
    assert len(data_files(lake)) == done.files_added


def test_partitions_are_replaced_by_the_workers_files_and_others_stay(lake: Lake, spark: SparkSession):
    write(lake, THINGS, table_of(THINGS, [*things("a", 4), *things("b", 1)]), partitions=["a", "b"])
    new = things("a", 6, size=2)
    done = write(
        lake, THINGS, worker_rows(spark, table_of(THINGS, new)), strategy="replace_partitions", run_id="2", spark=spark
    )
    assert rows_of(lake, THINGS) == [*new, *things("b", 1)]
    assert (done.action, done.executor) == ("replace", "workers")
    assert counts_of(done) == Counts(inserted=18, deleted=12)
    assert done.data_versions == {"a": content(new)}
    for by in (None, spark):
        changes = [change for change, _ in feed_between(local(lake.path(THINGS)), done.version_before, by).elements()]
        assert (changes.count("insert"), changes.count("delete"), len(changes)) == (18, 12, 30)


@pytest.mark.parametrize("executor", ["delta-rs", "spark"])
def test_where_rows_are_there_already_they_are_compared_and_the_files_go(lake: Lake, spark: SparkSession, executor):
    write(lake, THINGS, table_of(THINGS, things("a", 4)))
    before = set(data_files(lake))
    new = [*things("a", 3), thing("a", "new.py", "f")]
    rows = worker_rows(spark, table_of(THINGS, [{**new[0], "size": None}, *new[1:]]))
    done = write(lake, THINGS, rows, run_id="2", executor=executor, spark=spark)
    assert (done.action, done.executor) == ("merge", "spark" if executor == "spark" else "process")
    assert counts_of(done) == Counts(inserted=1, updated=1, deleted=3, unchanged=8)
    assert rows_of(lake, THINGS)[0]["size"] is None
    assert len(set(data_files(lake)) - before) == done.files_added + len(changes_of(lake)), (
        "the workers' files are gone"
    )


def test_keys_that_are_all_new_are_appended_without_a_merge(lake: Lake, spark: SparkSession):
    write(lake, THINGS, table_of(THINGS, things("a", 2)))
    more = [thing("a", "x.py", "f"), thing("a", "y.py", "f")]
    done = write(
        lake, THINGS, worker_rows(spark, table_of(THINGS, more)), strategy="append_new", run_id="2", spark=spark
    )
    assert (done.action, done.executor, done.rows_inserted) == ("append", "workers", 2)
    known = [thing("a", "y.py", "f", 9), thing("a", "z.py", "f")]
    done = write(
        lake, THINGS, worker_rows(spark, table_of(THINGS, known)), strategy="append_new", run_id="3", spark=spark
    )
    assert (done.action, done.rows_inserted, done.rows_unchanged) == ("merge", 1, 1)
    assert rows_of(lake, THINGS) == [*things("a", 2), *more, thing("a", "z.py", "f")]


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
    assert data_files(lake) == []


def test_an_owner_that_is_not_among_the_batch_s_is_refused(lake: Lake, spark: SparkSession):
    rows = worker_rows(spark, table_of(THINGS, [thing("a", "x.py", "f"), thing("a", "y.py", "f")]))
    with pytest.raises(BadInputError, match=r"not of the batch's owners in 1 rows.*path='y.py'"):
        write(lake, THINGS, rows, owners=("x.py",), spark=spark)
    assert data_files(lake) == []


def test_an_owner_whose_rows_come_from_two_tasks_is_refused_by_name(lake: Lake, spark: SparkSession):
    table = table_of(THINGS, [thing("a", "x.py", f"f{number}") for number in range(40)])
    apart = WorkerRows(items=spark.createDataFrame(table).repartition(2, "name"), produce=lambda batches: batches)
    with pytest.raises(BadInputError, match=r"rows of 1 owners come from several work items.*x\.py"):
        write(lake, THINGS, apart, spark=spark)
    assert data_files(lake) == []


def test_files_are_of_bounded_size_and_hold_whole_owners(
    lake: Lake, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("lakehouse_assets.lake.worker_stage.ROWS_PER_FILE", 10)
    rows = things("a", 20, each=4)
    items = spark.createDataFrame([(number,) for number in range(20)], "number int").coalesce(1)

    def produce(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("number").to_pylist():
                yield from table_of(THINGS, rows[number * 4 : number * 4 + 4]).to_batches()

    done = write(lake, THINGS, WorkerRows(items=items, produce=produce), spark=spark)
    assert rows_of(lake, THINGS) == rows
    assert done.files_added == 10
    later = table_of(THINGS, [thing("a", "003.py", f"f{number}", 2) for number in range(4)])
    changed = write(lake, THINGS, later, owners=("003.py",), run_id="later")
    assert (changed.files_touched, changed.files_total, changed.rows_updated) == (1, 10, 4)


def test_a_worker_s_error_comes_home_as_it_was_raised_and_its_files_go(lake: Lake, spark: SparkSession):
    def produce(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches
        raise SourceError(subject="repo a", seen="object 12ab is corrupt", why="w", remedy="git fsck")

    items = spark.createDataFrame(table_of(THINGS, things("a", 2))).coalesce(1)
    with pytest.raises(SourceError, match="object 12ab is corrupt"):
        write(lake, THINGS, WorkerRows(items=items, produce=produce), spark=spark)
    assert data_files(lake) == []


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


def test_a_table_without_owners_is_written_by_its_workers_and_told_key_by_key(lake: Lake, spark: SparkSession):
    for run, names in enumerate(("abcd", "efg")):
        rows = worker_rows(spark, words(names), owner="name")
        done = write(lake, WORDS, rows, run_id=str(run), spark=spark)
        assert (done.action, done.executor, done.rows_inserted) == ("append", "workers", len(names))
    assert [row["name"] for row in rows_of(lake, WORDS)] == list("abcdefg")
    twice = WorkerRows(items=spark.createDataFrame(words("hh")).repartition(2), produce=lambda batches: batches)
    with pytest.raises(BadInputError, match=r"more than once.*x\.py"):
        write(lake, WORDS, twice, run_id="twice", spark=spark)
    assert len(list(local(lake.path(WORDS)).glob("*.parquet"))) == lake.size(WORDS).files


def test_a_table_that_asks_more_of_a_writer_is_left_to_an_engine(lake: Lake, spark: SparkSession):
    write(lake, THINGS, table_of(THINGS, things("a", 4)))
    lake.open(THINGS).alter.add_constraint({"small": "size < 10"})
    before = set(data_files(lake))
    new = [*things("a", 3), thing("a", "new.py", "f")]
    done = write(lake, THINGS, worker_rows(spark, table_of(THINGS, new)), run_id="2", spark=spark)
    assert done.executor != "workers"
    assert counts_of(done) == Counts(inserted=1, deleted=3, unchanged=9)
    assert rows_of(lake, THINGS) == new
    large = worker_rows(spark, table_of(THINGS, [*new, thing("a", "new.py", "g", 11)]))
    with pytest.raises(DeltaError, match="1 rows failed validation check"):
        write(lake, THINGS, large, run_id="3", spark=spark)
    assert rows_of(lake, THINGS) == new
    assert before <= set(data_files(lake))


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
    assert done.executor == "workers"
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


def test_a_stage_in_files_tells_the_plan_of_each_of_them(tmp_path: Path):
    rows = table_of(THINGS, things("a", 3))
    file = write_data_file(tmp_path, THINGS, ("a",), rows, mark="m")
    bare = BatchFacts(columns={}, rows=rows.num_rows, bytes=rows.nbytes)
    staged = FileStage(folder=tmp_path, contract=THINGS, facts=bare, files=(file,), totals=(0,))
    (told,) = staged.facts.files
    assert staged.facts.in_files
    assert (told.partition, told.owner_min, told.owner_max, told.rows) == ({"repo": "a"}, "000.py", "002.py", 9)
