"""The upsert service: what a table holds after a write, what the feed and the report say, and what is refused."""

import shutil
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.errors import BadInputError, EnvironmentNotReadyError, LakeStateError, SourceError
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.spark_errors import spark_errors
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.row_hash import content_of
from lakehouse_assets_tests.support.checked_writes import feed_between
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.writes import THINGS, rows_of, table_of, thing, write

BOTH = pytest.mark.parametrize("executor", ["delta-rs", "spark"])


def feed(lake: Lake, version: int) -> list[tuple[str, str, int | None]]:
    """What changed in one version, as (change, name, size)."""
    rows = pa.table(lake.open(THINGS).load_cdf(starting_version=version, ending_version=version).read_all()).to_pylist()
    return sorted((row["_change_type"], row["name"], row["size"]) for row in rows)


def content(rows: list[dict[str, Any]]) -> str:
    return content_of(THINGS.columns, [[row[c.name] for row in rows] for c in THINGS.columns]).version


@BOTH
def test_an_upsert_changes_what_differs_and_deletes_what_is_gone_and_nothing_else(
    lake: Lake, spark: SparkSession, executor
):
    before = [thing("a", "x.py", "f"), thing("a", "x.py", "g"), thing("a", "y.py", "h", None), thing("b", "x.py", "f")]
    write(lake, THINGS, table_of(THINGS, before), partitions=["a", "b"], executor=executor, spark=spark)
    after = [thing("a", "x.py", "f"), thing("a", "x.py", "g", 2), thing("a", "z.py", "new", tags=["t"])]
    done = write(lake, THINGS, table_of(THINGS, after), run_id="run-2", executor=executor, spark=spark)

    assert rows_of(lake, THINGS) == sorted([*after, before[3]], key=lambda r: (r["repo"], r["path"], r["name"]))
    counts = (done.rows_inserted, done.rows_updated, done.rows_deleted, done.rows_unchanged)
    assert counts == (1, 1, 1, 1)
    assert feed(lake, done.version_after) == [
        ("delete", "h", None),
        ("insert", "new", 1),
        ("update_postimage", "g", 2),
        ("update_preimage", "g", 1),
    ]
    assert done.data_versions == {"a": content(after)}
    assert done.executor == executor


@BOTH
def test_only_rows_of_the_owners_being_replaced_are_deleted(lake: Lake, spark: SparkSession, executor):
    before = [thing("a", "x.py", "f"), thing("a", "x.py", "g"), thing("a", "y.py", "h")]
    write(lake, THINGS, table_of(THINGS, before), executor=executor, spark=spark)
    rows = table_of(THINGS, [thing("a", "x.py", "f")])
    done = write(lake, THINGS, rows, owners=("x.py",), run_id="run-2", executor=executor, spark=spark)
    assert [row["name"] for row in rows_of(lake, THINGS)] == ["f", "h"]
    assert (done.rows_deleted, done.rows_unchanged) == (1, 1)
    assert done.data_versions == {"a": content([before[0], before[2]])}


@BOTH
def test_without_owners_an_upsert_replaces_the_keys_it_has(lake: Lake, spark: SparkSession, executor):
    write(lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f"), thing("a", "x.py", "g")]))
    rows = table_of(THINGS, [thing("a", "x.py", "g", 9)])
    write(lake, THINGS, rows, owners=(), run_id="run-2", executor=executor, spark=spark)
    assert [(row["name"], row["size"]) for row in rows_of(lake, THINGS)] == [("f", 1), ("g", 9)]


@BOTH
def test_equal_rows_are_not_written_and_the_commit_names_no_file(lake: Lake, spark: SparkSession, executor):
    rows = table_of(THINGS, [thing("a", "x.py", "f", None), thing("a", "x.py", "g", tags=[])])
    first = write(lake, THINGS, rows)
    files = lake.open(THINGS).file_uris()
    second = write(lake, THINGS, rows, run_id="run-2", cursor="c2", executor=executor, spark=spark)
    assert second.rows_unchanged == 2
    assert second.rows_changed == 0
    if executor == "delta-rs":  # Spark's MERGE copies a file that it has looked into
        assert (second.files_added, second.files_removed) == (0, 0)
        assert lake.open(THINGS).file_uris() == files
    assert not feed_between(local(lake.path(THINGS)), first.version_after)
    assert not feed_between(local(lake.path(THINGS)), first.version_after, spark)
    assert Ledger(lake).latest([THINGS])[("things", "a")].cursor == "c2"
    assert second.data_versions == first.data_versions


@BOTH
def test_a_write_that_changed_nothing_is_a_replay_too_however_late_it_is_repeated(
    lake: Lake, spark: SparkSession, executor
):
    rows = table_of(THINGS, [thing("a", "x.py", "f")])
    write(lake, THINGS, rows, run_id="load")
    write(lake, THINGS, rows, run_id="nothing", executor=executor, spark=spark)
    write(lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f", 2)]), run_id="later", cursor="c3")
    assert write(lake, THINGS, rows, run_id="nothing").action == "replayed"
    assert rows_of(lake, THINGS)[0]["size"] == 2
    assert Ledger(lake).latest([THINGS])[("things", "a")].cursor == "c3"


def test_a_table_that_was_deleted_and_is_made_anew_starts_from_nothing(lake: Lake):
    for _ in range(2):
        write(lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f"), thing("a", "y.py", "g")]), run_id="one")
        changed = table_of(THINGS, [thing("a", "x.py", "f", 2)])
        done = write(lake, THINGS, changed, owners=("x.py",), run_id="two")
        assert (done.action, done.rows_updated, done.version_after) == ("merge", 1, 2)
        assert done.data_versions == {"a": content(rows_of(lake, THINGS))}
        shutil.rmtree(local(lake.path(THINGS)))


@BOTH
def test_append_new_adds_unknown_keys_and_leaves_known_ones_as_they_are(lake: Lake, spark: SparkSession, executor):
    write(lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f", 1)]))
    rows = table_of(THINGS, [thing("a", "x.py", "f", 99), thing("a", "x.py", "g", 2)])
    done = write(lake, THINGS, rows, strategy="append_new", run_id="run-2", executor=executor, spark=spark)
    assert [(row["name"], row["size"]) for row in rows_of(lake, THINGS)] == [("f", 1), ("g", 2)]
    assert (done.rows_inserted, done.rows_unchanged) == (1, 1)


@BOTH
def test_delete_matching_deletes_the_keys_of_the_batch(lake: Lake, spark: SparkSession, executor):
    write(lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f"), thing("a", "x.py", "g")]))
    rows = table_of(THINGS, [thing("a", "x.py", "g", 77), thing("a", "x.py", "unknown")])
    done = write(lake, THINGS, rows, strategy="delete_matching", run_id="run-2", executor=executor, spark=spark)
    assert [row["name"] for row in rows_of(lake, THINGS)] == ["f"]
    assert done.rows_deleted == 1


@BOTH
def test_partitions_are_replaced_as_a_whole_and_the_others_stay(lake: Lake, spark: SparkSession, executor):
    three = [thing(repo, "x.py", "f") for repo in "abc"]
    write(lake, THINGS, table_of(THINGS, three), partitions=["a", "b", "c"])
    rows = table_of(THINGS, [thing("a", "x.py", "g")])
    done = write(
        lake, THINGS, rows, partitions=["a", "b"], strategy="replace_partitions", run_id="run-2",
        executor=executor, spark=spark,
    )  # fmt: skip
    assert [(row["repo"], row["name"]) for row in rows_of(lake, THINGS)] == [("a", "g"), ("c", "f")]
    assert done.data_versions == {"a": content([thing("a", "x.py", "g")]), "b": content([])}


def test_a_first_load_does_not_pay_for_a_merge(lake: Lake):
    assert write(lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f")])).action == "append"
    other = write(lake, THINGS, table_of(THINGS, [thing("b", "x.py", "f")]), partitions=["b"], run_id="run-2")
    assert other.action == "append"
    new_owner = table_of(THINGS, [thing("a", "z.py", "f")])
    assert write(lake, THINGS, new_owner, owners=("z.py",), run_id="run-3").action == "append"


def test_a_replay_is_noticed_and_skipped(lake: Lake):
    write(lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f", 1)]), run_id="old")
    write(lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f", 2)]), run_id="new", cursor="c2")
    version = lake.open(THINGS).version()
    again = write(lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f", 1)]), run_id="old")
    assert again.action == "replayed"
    assert rows_of(lake, THINGS)[0]["size"] == 2
    assert lake.open(THINGS).version() == version
    assert Ledger(lake).latest([THINGS])[("things", "a")].cursor == "c2"


def test_a_write_by_spark_is_a_replay_to_delta_rs_and_leaves_no_setting_behind(lake: Lake, spark: SparkSession):
    write(lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f", 1)]), run_id="first")
    rows = table_of(THINGS, [thing("a", "x.py", "f", 2)])
    write(lake, THINGS, rows, run_id="merge", executor="spark", spark=spark)
    assert write(lake, THINGS, rows, run_id="merge", executor="delta-rs").action == "replayed"
    for name in ("commitInfo.userMetadata", "write.txnAppId", "write.txnVersion"):
        assert spark.conf.get(f"spark.databricks.delta.{name}", None) is None


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([thing("a", "x.py", "f"), thing("b", "x.py", "f")], r"outside the run's partitions in 1 rows.*'b'"),
        ([thing("a", "x.py", "f"), thing("a", "x.py", "f", 2)], "the key stands more than once in 1 rows"),
        ([thing("a", "x.py", None)], "name is NULL in 1 rows"),  # type: ignore[arg-type]
        ([thing("a", "x.py", "f", kind="c")], "kind is none of a, b in 1 rows"),
    ],
)
@pytest.mark.parametrize("on_spark", [False, True])
def test_rows_that_break_the_contract_are_named_and_nothing_is_written(
    lake: Lake, spark: SparkSession, rows, complaint, on_spark
):
    table = table_of(THINGS, rows)
    with pytest.raises(BadInputError, match=complaint):
        write(lake, THINGS, spark.createDataFrame(table) if on_spark else table)
    assert not lake.exists(THINGS)


def test_rows_can_be_set_aside_with_the_reason_instead(lake: Lake, spark: SparkSession):
    lenient = replace(THINGS, violations="quarantine")
    rows = [
        thing("a", "x.py", "f"),
        thing("a", "x.py", "bad", kind="c"),
        thing("a", "y.py", "g"),
        thing("a", "y.py", "g", 2),
    ]
    for run, batch in (("local", table_of(THINGS, rows)), ("spark", spark.createDataFrame(table_of(THINGS, rows)))):
        done = write(lake, lenient, batch, run_id=run, spark=spark)
        assert [row["name"] for row in rows_of(lake, THINGS)] == ["f"]
        assert done.rows_quarantined == 3
    aside = lake.read(QUARANTINE).to_pylist()
    assert len(aside) == 6
    assert {row["rule"] for row in aside} == {"kind is none of a, b", "the key stands more than once"}
    assert any('"kind":"c"' in row["row_json"] for row in aside)


def test_a_worker_s_error_comes_home_as_it_was_raised(lake: Lake, spark: SparkSession):
    wire = SourceError(subject="repo a", seen="object 12ab is corrupt", why="w", remedy="git fsck").to_wire()

    def fail(batches):
        raise RuntimeError(wire)
        yield from batches

    frame = spark.createDataFrame(table_of(THINGS, [thing("a", "x.py", "f")]))
    with pytest.raises(SourceError, match="object 12ab is corrupt"):
        write(lake, THINGS, frame.mapInArrow(fail, frame.schema), spark=spark)
    assert not lake.exists(THINGS)


def test_a_full_disk_is_said_plainly():
    from pyspark.errors import PySparkRuntimeError

    with pytest.raises(EnvironmentNotReadyError, match="the disk is full"), spark_errors("table t"):
        raise PySparkRuntimeError("java.io.IOException: No space left on device")


def test_every_write_leaves_a_row_that_answers_for_it(lake: Lake):
    write(lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f")]), run_id="one")
    write(lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f", 2)]), run_id="two")
    first, second = sorted(lake.read(WRITES).to_pylist(), key=lambda row: row["written_at"])
    assert (first["action"], first["rows_inserted"], first["files_added"]) == ("append", 1, 1)
    assert (second["action"], second["rows_updated"], second["files_touched"]) == ("merge", 1, 1)
    assert second["version_after"] == first["version_after"] + 1
    assert '"data_version"' in second["keys"]
    assert "commit" in second["seconds"]


def test_audit_columns_tell_when_and_by_whom_and_only_for_rows_that_changed(lake: Lake):
    audited = replace(THINGS, audited=True)
    write(lake, audited, table_of(THINGS, [thing("a", "x.py", "f"), thing("a", "x.py", "g")]), run_id="one")
    write(lake, audited, table_of(THINGS, [thing("a", "x.py", "f"), thing("a", "x.py", "g", 2)]), run_id="two")
    rows = lake.read(audited, columns=["name", "written_by", "written_at"]).to_pylist()
    assert {row["name"]: row["written_by"] for row in rows} == {"f": "one", "g": "two"}
    assert all(row["written_at"] is not None for row in rows)


def test_rows_that_go_on_from_a_state_that_another_run_has_left_are_refused(lake: Lake):
    write(lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f")]), cursor="c1")
    onward = {"a": "c1"}
    write(
        lake, THINGS, table_of(THINGS, [thing("a", "y.py", "g")]), owners=(), run_id="run-2", cursor="c2", since=onward
    )
    with pytest.raises(LakeStateError, match="another run has moved it on"):
        write(lake, THINGS, table_of(THINGS, []), owners=("y.py",), run_id="run-3", cursor="c3", since=onward)
    assert [row["path"] for row in rows_of(lake, THINGS)] == ["x.py", "y.py"]
    assert Ledger(lake).latest([THINGS])["things", "a"].cursor == "c2"


def test_every_so_many_versions_there_is_a_checkpoint_and_nothing_is_lost_with_what_is_behind_it(
    lake: Lake,
):
    lake.ensure(THINGS).alter.set_table_properties({"delta.checkpointInterval": "5"})
    paths = [f"{number}.py" for number in range(12)]
    for run, path in enumerate(paths):
        write(lake, THINGS, table_of(THINGS, [thing("a", path, "f", run)]), owners=(path,), run_id=str(run))
    log = local(lake.path(THINGS)) / "_delta_log"
    assert [int(file.name[:20]) for file in sorted(log.glob("*.checkpoint.parquet"))] == [4, 9]
    for entry in log.glob("*.json"):
        if int(entry.stem) < 9:
            entry.unlink()
    assert sorted(row["path"] for row in rows_of(lake, THINGS)) == sorted(paths)
    again = write(lake, THINGS, table_of(THINGS, [thing("a", "0.py", "f", 0)]), owners=("0.py",), run_id="0")
    assert again.action == "replayed", "the transactions are in the checkpoint as well"
