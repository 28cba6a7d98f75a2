"""What a write says of itself (who wrote, which SQL ran, which rows changed) is what its commit says."""

from collections import Counter

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.report import WriteReport
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.checked_writes import see_writer
from lakehouse_assets_tests.support.writes import THINGS, rows_of, table_of, thing, worker_rows, write

BEFORE = [thing("a", "x.py", "f"), thing("a", "x.py", "g"), thing("a", "y.py", "h")]
AFTER = [thing("a", "x.py", "f"), thing("a", "x.py", "g", 2), thing("a", "z.py", "new")]


def fed(lake: Lake, version: int) -> Counter[str]:
    """Rows of the change feed of one version, by kind of change."""
    feed = pa.table(lake.open(THINGS).load_cdf(starting_version=version, ending_version=version).read_all())
    return Counter(feed["_change_type"].to_pylist())


def see_true(lake: Lake, done: WriteReport, executor: str) -> None:
    """The report, and the row of `writes`, name the commit's writer, its rows, and SQL only where some ran."""
    assert done.executor == executor
    see_writer(lake, THINGS, done)
    (row,) = [row for row in lake.rows(WRITES) if row["write_key"] == done.write_key]
    assert (row["executor"], row["version_after"]) == (executor, done.version_after)
    feed = fed(lake, done.version_after)
    assert (row["rows_inserted"], row["rows_updated"], row["rows_deleted"]) == (
        feed["insert"],
        feed["update_postimage"],
        feed["delete"],
    )
    assert "LAKEHOUSE_ENGINE" not in row["executor_reason"] or executor == "spark"


def test_a_small_write_names_delta_rs_and_the_call_that_it_took(lake: Lake):
    see_true(lake, write(lake, THINGS, table_of(THINGS, BEFORE)), "delta-rs")
    see_true(lake, write(lake, THINGS, table_of(THINGS, AFTER), run_id="2"), "delta-rs")
    done = write(lake, THINGS, table_of(THINGS, BEFORE), strategy="replace_partitions", run_id="3")
    see_true(lake, done, "delta-rs")
    done = write(lake, THINGS, table_of(THINGS, BEFORE), run_id="4")
    assert done.rows_changed == 0
    see_true(lake, done, "delta-rs")


def test_a_write_by_spark_names_it_and_shows_the_merge_that_ran(lake: Lake, spark: SparkSession):
    done = write(lake, THINGS, table_of(THINGS, BEFORE), executor="spark", spark=spark)
    see_true(lake, done, "spark")
    done = write(lake, THINGS, table_of(THINGS, AFTER), run_id="2", executor="spark", spark=spark)
    see_true(lake, done, "spark")
    assert done.statement.startswith("MERGE INTO")
    assert "{batch}" not in done.statement
    done = write(lake, THINGS, table_of(THINGS, AFTER), run_id="3", executor="spark", spark=spark)
    see_true(lake, done, "delta-rs")  # Spark compared and found nothing; the entry is not its own
    assert done.executor_reason.startswith("no row differs")


def test_rows_that_workers_make_are_told_as_spark_s(lake: Lake, spark: SparkSession):
    done = write(lake, THINGS, worker_rows(spark, table_of(THINGS, BEFORE)), spark=spark)
    see_true(lake, done, "spark")
    assert done.executor_reason == "the rows are on Spark"


def test_a_replay_of_a_write_whose_process_died_names_the_writer_of_the_commit(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as dying:
        dying.setattr("lakehouse_assets.lake.upsert.keep", lambda *_: None)  # it committed, and told nobody
        write(lake, THINGS, table_of(THINGS, BEFORE))
    lake.ensure(WRITES)
    done = write(lake, THINGS, table_of(THINGS, BEFORE))
    assert (done.action, done.rows_inserted) == ("replayed", 3)
    see_true(lake, done, "delta-rs")
    again = write(lake, THINGS, table_of(THINGS, BEFORE))
    assert (again.executor, again.version_before) == ("none", again.version_after)


@pytest.mark.parametrize(
    "asked",
    [
        {"delta.enableDeletionVectors": "true"},
        {"delta.constraints.small": "size < 1000"},
        {"delta.enableInCommitTimestamps": "true"},
    ],
    ids=["deletion vectors", "a constraint", "in-commit timestamps"],
)
def test_an_update_without_row_changes_lets_the_next_go_on_whatever_the_table_asks_of_a_writer(
    lake: Lake, spark: SparkSession, asked: dict[str, str]
):
    write(lake, THINGS, table_of(THINGS, BEFORE))
    lake.open(THINGS).alter.set_table_properties(asked, raise_if_not_exists=False)
    before = lake.open(THINGS).version()
    same = write(lake, THINGS, table_of(THINGS, BEFORE), run_id="2", cursor="c2", since={"a": "c1"}, spark=spark)
    assert (same.rows_changed, same.version_after) == (0, before + 1)
    assert Ledger(lake).latest([THINGS])[("things", "a")].cursor == "c2"
    again = write(lake, THINGS, table_of(THINGS, BEFORE), run_id="2", cursor="c2", since={"a": "c1"}, spark=spark)
    assert again.action == "replayed"
    moved = [thing("a", "y.py", "h", 7)]
    later = table_of(THINGS, moved)
    write(lake, THINGS, later, owners=("y.py",), run_id="3", cursor="c3", since={"a": "c2"}, spark=spark)
    assert rows_of(lake, THINGS) == [*BEFORE[:2], *moved]
