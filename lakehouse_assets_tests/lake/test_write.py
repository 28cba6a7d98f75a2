"""One commit per write; nothing outside the run's partitions changes; rows and ledger move together."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.schemas import arrow_schema, pandera_model
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.errors import BadInputError, EnvironmentNotReadyError, SourceError
from lakehouse_assets.lake import write as write_module
from lakehouse_assets.lake.ledger import Entry, Ledger, new_entry
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.write import partition_predicate, spark_errors, sql_literal, write
from lakehouse_assets.plan.staleness import MaterializationKey


def entry(asset: str, partition: str, cursor: str = "c1") -> Entry:
    key = MaterializationKey(asset=asset, partition=partition, cursor=cursor, code_version="v", settings_hash="s")
    return new_entry(key, run_id="run")


def snapshot_rows(spark: SparkSession, *rows: tuple[str, str]) -> DataFrame:
    table = pa.Table.from_pylist(
        [
            {
                "repo": repo,
                "path": path,
                "blob_sha": "0" * 40,
                "mode": "100644",
                "kind": "file",
                "size": 1,
                "language": None,
                "is_generated": False,
                "is_vendored": False,
                "is_test": False,
            }
            for repo, path in rows
        ],
        schema=arrow_schema(SNAPSHOTS),
    )
    return spark.createDataFrame(table)


def paths(lake: Lake) -> list[tuple[str, str]]:
    table = lake.read(SNAPSHOTS, columns=["repo", "path"])
    return sorted(zip(table["repo"].to_pylist(), table["path"].to_pylist(), strict=True))


def test_a_run_over_two_partitions_leaves_the_third_alone_and_is_one_commit(spark: SparkSession, lake: Lake):
    three = [entry("snapshots", name) for name in "abc"]
    write(lake, SNAPSHOTS, snapshot_rows(spark, ("a", "x"), ("b", "x"), ("c", "x")), three)
    before = lake.open(SNAPSHOTS).version()
    frame = snapshot_rows(spark, ("a", "y"))
    done = write(lake, SNAPSHOTS, frame, [entry("snapshots", "a", "c2"), entry("snapshots", "b", "c2")])
    assert paths(lake) == [("a", "y"), ("c", "x")]
    assert done.table_version == before + 1
    assert done.rows_written == 1
    cursors = {e.partition: e.cursor for e in Ledger(lake).latest([SNAPSHOTS]).values()}
    assert cursors == {"a": "c2", "b": "c2", "c": "c1"}


def test_names_with_quotes_newlines_and_percent_signs_come_back_as_they_were(spark: SparkSession, lake: Lake):
    odd = ["it's", 'a "b"', "new\nline", "per%20cent", "a=b", "back\\slash", "ünï", "’"]
    write(lake, SNAPSHOTS, snapshot_rows(spark, *(("a", p) for p in odd)), [entry("snapshots", "a")])
    assert [p for _, p in paths(lake)] == sorted(odd)


def test_what_is_written_fits_the_contract_s_pandera_model(spark: SparkSession, lake: Lake):
    write(lake, SNAPSHOTS, snapshot_rows(spark, ("a", "x")), [entry("snapshots", "a")])
    frame = spark.read.format("delta").load(str(lake.path(SNAPSHOTS)))
    model: Any = pandera_model(SNAPSHOTS)  # pandera's own annotations do not know PySpark's frames
    assert dict(model.validate(frame).pandera.errors) == {}
    wrong = model.validate(frame.replace("file", "folder", ["kind"]))
    assert "kind" in str(dict(wrong.pandera.errors))


def test_a_frame_of_another_shape_is_refused_before_anything_is_written(spark: SparkSession, lake: Lake):
    with pytest.raises(BadInputError, match="differ in extra int"):
        write(
            lake,
            SNAPSHOTS,
            snapshot_rows(spark, ("a", "x")).selectExpr("*", "1 AS extra"),
            [entry("snapshots", "a")],
        )
    assert not lake.exists(SNAPSHOTS)


def test_a_write_without_rows_still_moves_the_ledger(spark: SparkSession, lake: Lake):
    nothing = spark.createDataFrame(arrow_schema(BLOBS).empty_table())
    done = write(lake, BLOBS, nothing, [entry("blobs", "a")])
    assert done.rows_written == 0
    assert Ledger(lake).latest([BLOBS])[("blobs", "a")].cursor == "c1"


def test_a_kill_between_rows_and_index_loses_nothing(spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch):
    class Killed(BaseException):
        pass

    def kill(*_: object, **__: object) -> None:
        raise Killed

    monkeypatch.setattr(write_module.Ledger, "record", kill)
    with pytest.raises(Killed):
        write(lake, SNAPSHOTS, snapshot_rows(spark, ("a", "x")), [entry("snapshots", "a")])
    monkeypatch.undo()
    assert paths(lake) == [("a", "x")]
    assert Ledger(lake).latest([SNAPSHOTS])[("snapshots", "a")].cursor == "c1"
    write(lake, SNAPSHOTS, snapshot_rows(spark, ("b", "x")), [entry("snapshots", "b")])
    assert {key[1] for key in Ledger(lake)._indexed()} == {"a", "b"}


def test_a_worker_s_error_comes_home_as_it_was_raised(spark: SparkSession, lake: Lake):
    wire = SourceError(subject="repo a", seen="object 12ab is corrupt", why="w", remedy="git fsck").to_wire()

    def fail(batches):
        raise RuntimeError(wire)
        yield from batches

    frame = snapshot_rows(spark, ("a", "x"))
    with pytest.raises(SourceError, match="object 12ab is corrupt"):
        write(lake, SNAPSHOTS, frame.mapInArrow(fail, frame.schema), [entry("snapshots", "a")])
    assert paths(lake) == []


def test_a_full_disk_is_said_plainly():
    from pyspark.errors import PySparkRuntimeError

    with pytest.raises(EnvironmentNotReadyError, match="the disk is full"), spark_errors("table t"):
        raise PySparkRuntimeError("java.io.IOException: No space left on device")


def test_partition_values_stand_in_sql_as_literals(spark: SparkSession):
    odd = ["it's", "back\\slash", "a'; DROP TABLE x --"]
    assert spark.sql(f"SELECT array({', '.join(map(sql_literal, odd))}) AS a").collect()[0].a == odd
    assert partition_predicate(SNAPSHOTS, ["a", "b"]) == "`repo` IN ('a', 'b')"


def test_the_lake_is_open_to_delta_rs_and_duckdb(spark: SparkSession, lake: Lake, tmp_path: Path):
    from lakehouse_assets.lake.query import ask

    write(
        lake, SNAPSHOTS, snapshot_rows(spark, ("a", "x"), ("a", "y"), ("b", "x")), [entry("snapshots", n) for n in "ab"]
    )
    with ask(lake, "SELECT repo, count(*) AS n FROM snapshots GROUP BY repo ORDER BY repo") as answer:
        assert list(answer.rows) == [{"repo": "a", "n": 2}, {"repo": "b", "n": 1}]
