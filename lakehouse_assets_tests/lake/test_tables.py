"""Tables are made from their contracts; what is not a table is never taken for an empty one."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.repositories import REPOSITORIES
from lakehouse_assets.contracts.table import Column
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.lake import record_rows, tables
from lakehouse_assets.lake.commit_log import has_log, log_entry
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import delta_name
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.writes import THINGS, table_of, thing, write


@pytest.mark.parametrize("contract", CATALOG.values(), ids=list(CATALOG))
def test_a_table_is_made_as_its_contract_says(lake: Lake, contract):
    table = lake.ensure(contract)
    assert [field.name for field in table.schema().fields] == list(contract.column_names)
    assert [field.metadata["comment"] for field in table.schema().fields] == [c.description for c in contract.columns]
    assert table.metadata().partition_columns == list(contract.partition_by)
    assert table.metadata().configuration["delta.enableChangeDataFeed"] == "true"


def test_making_a_table_twice_leaves_it_as_it_was(lake: Lake):
    lake.ensure(COMMITS)
    assert lake.ensure(COMMITS).version() == 0


def test_names_that_are_no_plain_words_are_written_by_spark_and_by_delta_rs(lake: Lake, spark: SparkSession):
    odd = Column(name="net-price", type="string", description="As a source may call it.", nullable=True)
    contract = replace(THINGS, name="odd_names", columns=(*THINGS.columns, odd))
    write_deltalake(lake.ensure(contract), pa.table({"net-price": ["1"]}), mode="append", schema_mode="merge")
    table = delta_name(str(lake.path(contract)))
    spark.sql(f"INSERT INTO {table} (`net-price`) VALUES ('2')")
    assert sorted(row[0] for row in spark.sql(f"SELECT `net-price` FROM {table}").collect()) == ["1", "2"]


def test_source_text_is_kept_out_of_the_log_s_statistics(lake: Lake):
    statistics = lake.ensure(BLOBS).metadata().configuration["delta.dataSkippingStatsColumns"].split(",")
    assert "blob_sha" in statistics
    assert "text" not in statistics


def test_a_table_that_was_never_made_has_no_rows(lake: Lake):
    assert lake.read(COMMITS, columns=["repo"]).num_rows == 0
    assert not lake.exists(COMMITS)


def test_data_files_without_a_log_are_refused_instead_of_overwritten(lake: Lake):
    Registry(lake).add([Repository(name="a", location="/a", kind="directory")])
    shutil.rmtree(local(lake.path(REPOSITORIES)) / "_delta_log")
    with pytest.raises(LakeStateError, match="no Delta log"):
        lake.read(REPOSITORIES)
    with pytest.raises(LakeStateError, match="no Delta log"):
        lake.ensure(REPOSITORIES)


def test_a_table_that_another_writer_makes_and_fills_while_it_is_looked_for_is_there(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
):
    looks: list[bool] = []

    def look(folder: LakePath) -> bool:
        looks.append(has_log(folder))
        if len(looks) == 1:
            DeltaTable.create(str(folder), pa.schema([("repo", pa.string())]))
            write_deltalake(str(folder), pa.table({"repo": ["a"]}), mode="append")
        return looks[-1]

    monkeypatch.setattr(tables, "has_log", look)
    assert lake.exists(THINGS)
    assert looks == [False, True]


def test_a_log_that_cannot_be_read_is_refused_by_name(lake: Lake):
    lake.ensure(COMMITS)
    (local(lake.path(COMMITS)) / "_delta_log" / "00000000000000000000.json").write_text("{ not json")
    with pytest.raises(LakeStateError, match="table commits"):
        lake.read(COMMITS)


@pytest.mark.parametrize("sizes", [(1, None), (None, 1), (1, 1, None), (1, None, 2), (1, None, 1, None, 1)])
def test_null_is_found_beside_a_value_that_stands_alone(lake: Lake, sizes: tuple[int | None, ...]):
    """A reader that takes a file's smallest and largest value for all of its rows would miss it."""
    rows = [thing("a", "x.py", f"f{n}", size, kind=None if size is None else "a") for n, size in enumerate(sizes)]
    write(lake, THINGS, table_of(THINGS, rows))
    with local_sql() as connection:
        for column in ("size", "kind"):
            query = f"SELECT name FROM {relation(lake, THINGS)} WHERE {column} IS NULL ORDER BY 1"
            assert [name for (name,) in connection.sql(query).fetchall()] == [
                f"f{n}" for n, size in enumerate(sizes) if size is None
            ]


def _write_size(lake: Lake, size: int) -> None:
    write(lake, THINGS, table_of(THINGS, [thing("a", "a.py", "x", size)]), run_id=f"run-{size}")


def test_a_table_stays_open_for_readers_until_it_is_written_to(lake: Lake):
    _write_size(lake, 1)
    table = lake.present(THINGS)
    assert lake.present(THINGS) is table
    held = table.version()
    _write_size(lake, 2)
    assert lake.present(THINGS).version() > held
    assert lake.read(THINGS, columns=["size"]).to_pylist() == [{"size": 2}]
    assert table.version() == held  # it does not move on under one who reads it


def test_a_table_is_opened_once_however_often_it_is_written_and_read(lake: Lake, monkeypatch: pytest.MonkeyPatch):
    _write_size(lake, 0)
    opened: list[str] = []
    really = Lake.open
    monkeypatch.setattr(Lake, "open", lambda self, contract: opened.append(contract.name) or really(self, contract))
    for number in range(1, 6):
        _write_size(lake, number)
        assert lake.read(THINGS, columns=["size"]).to_pylist() == [{"size": number}]
    assert opened == []


def test_what_another_process_commits_to_a_table_that_is_open_here_is_read(lake: Lake):
    _write_size(lake, 1)
    assert lake.read(THINGS, columns=["size"]).to_pylist() == [{"size": 1}]
    for _ in range(3):
        DeltaTable(local(lake.path(THINGS))).update({"size": "size + 1"})
    assert lake.read(THINGS, columns=["size"]).to_pylist() == [{"size": 4}]
    _write_size(lake, 9)
    assert lake.read(THINGS, columns=["size"]).to_pylist() == [{"size": 9}]


def test_a_table_in_the_place_of_one_that_was_open_is_read_as_it_is(lake: Lake, tmp_path: Path):
    other = Lake(tmp_path / "other")
    for each, number in ((lake, 1), (other, 2)):
        _write_size(each, number)
        assert each.read(THINGS, columns=["size"]).to_pylist() == [{"size": number}]
    assert lake.present(THINGS).version() == other.present(THINGS).version()
    shutil.rmtree(local(lake.path(THINGS)))
    shutil.copytree(local(other.path(THINGS)), local(lake.path(THINGS)))
    assert lake.read(THINGS, columns=["size"]).to_pylist() == [{"size": 2}]


def test_rows_are_appended_to_the_table_that_is_there_now(lake: Lake):
    """The table stays open between appends; one that was taken away and made anew begins at its first version."""
    for number in (1, 2, 3):
        _write_size(lake, number)
    assert lake.read(WRITES).num_rows == 3
    shutil.rmtree(local(lake.path(WRITES)))
    _write_size(lake, 4)
    assert lake.read(WRITES).num_rows == 1
    assert lake.open(WRITES).version() == 1


def test_the_files_of_writes_do_not_grow_in_number_with_the_writes(lake: Lake, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(record_rows, "TOGETHER", 10)
    for size in range(25):
        _write_size(lake, size)
    assert lake.size(WRITES).files < 12
    assert lake.read(WRITES).num_rows == 25


def test_a_log_whose_newest_entry_was_emptied_is_refused_instead_of_read_without_its_rows(lake: Lake):
    write(lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f")]), run_id="run")
    newest = max((local(lake.path(THINGS)) / "_delta_log").glob("*.json"))
    newest.write_text("")
    with pytest.raises(LakeStateError, match=rf"table things: .*{newest.name} is empty"):
        lake.open(THINGS)


def test_an_emptied_entry_is_refused_also_behind_a_table_that_is_open(lake: Lake):
    _write_size(lake, 1)
    version = lake.present(THINGS).version()
    local(log_entry(lake.path(THINGS), version + 1)).write_text("")
    with pytest.raises(LakeStateError, match="is empty"):
        lake.present(THINGS)


def with_deletion_vectors(lake: Lake) -> list[dict[str, Any]]:
    """A table of three rows in one file whose owner let engines mark rows as deleted; gives its rows."""
    rows = [thing("a", "x.py", "f"), thing("a", "y.py", "g"), thing("a", "z.py", "h")]
    write(lake, THINGS, table_of(THINGS, rows))
    lake.open(THINGS).alter.set_table_properties({"delta.enableDeletionVectors": "true"}, raise_if_not_exists=False)
    return rows


def names_by_duckdb(lake: Lake) -> list[str]:
    with local_sql() as connection:
        found = connection.execute(f"SELECT name FROM {relation(lake, THINGS)} ORDER BY 1").fetchall()
    return [name for (name,) in found]


def test_writes_to_a_table_with_deletion_vectors_leave_files_that_can_be_read_whole(lake: Lake, spark: SparkSession):
    rows = with_deletion_vectors(lake)
    moved = [thing("a", "y.py", "moved")]
    write(lake, THINGS, table_of(THINGS, moved), owners=("y.py",), run_id="2", spark=spark)
    assert names_by_duckdb(lake) == ["f", "h", "moved"]
    write(lake, THINGS, table_of(THINGS, []), owners=("z.py",), run_id="3", spark=spark)
    assert names_by_duckdb(lake) == ["f", "moved"]
    write(lake, THINGS, table_of(THINGS, rows), strategy="replace_partitions", run_id="4", spark=spark)
    assert names_by_duckdb(lake) == ["f", "g", "h"]


def test_a_file_with_rows_that_another_engine_marked_as_deleted_is_refused_until_it_is_purged(
    lake: Lake, spark: SparkSession
):
    with_deletion_vectors(lake)
    table = delta_name(str(lake.path(THINGS)))
    persistent = "spark.databricks.delta.delete.deletionVectors.persistent"
    spark.conf.set(persistent, "true")
    try:
        spark.sql(f"DELETE FROM {table} WHERE name = 'g'").collect()
    finally:
        spark.conf.unset(persistent)
    with pytest.raises(LakeStateError, match="deletion vectors") as refusal:
        names_by_duckdb(lake)
    assert "REORG TABLE" in refusal.value.remedy
    spark.sql(f"REORG TABLE {table} APPLY (PURGE)").collect()
    assert names_by_duckdb(lake) == ["f", "h"]
