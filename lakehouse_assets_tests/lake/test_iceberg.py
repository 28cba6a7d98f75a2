"""What Iceberg's readers see of a published table."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyiceberg.catalog import Catalog
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.connections import SqliteConnection
from lakehouse_assets.core.errors import BadInputError, LakeStateError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.holders import iceberg_snapshots
from lakehouse_assets.lake.iceberg import NAMESPACE, held_versions, open_catalog, publish
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import lakehouse_json
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.sample_graph import save_samples
from lakehouse_assets_tests.support.shapes import SHAPES, Shape
from lakehouse_assets_tests.support.shops import run_sql
from lakehouse_assets_tests.support.writes import THINGS, rows_of, table_of, thing, write


@pytest.fixture
def catalog(settings: Settings) -> Catalog:
    return open_catalog(settings.home)


def read(catalog: Catalog, *, snapshot: int | None = None, **scan: Any) -> list[dict[str, Any]]:
    found = catalog.load_table((NAMESPACE, "things")).scan(snapshot_id=snapshot, **scan).to_arrow()
    return sorted(found.to_pylist(), key=str)


def held(lake: Lake) -> list[dict[str, Any]]:
    return sorted(rows_of(lake, THINGS), key=str)


def test_a_published_table_has_the_rows_of_the_delta_table_in_the_same_files(lake: Lake, catalog: Catalog):
    write(lake, THINGS, table_of(THINGS, [thing("a", "x", "1", tags=["t"]), thing("a", "y", "2", None)]))
    done = publish(lake, THINGS, catalog)
    assert (done.files_shared, done.files_copied, done.files_removed) == (1, 0, 0)
    assert read(catalog) == held(lake)
    table = catalog.load_table((NAMESPACE, "things"))
    assert {task.file.file_path for task in table.scan().plan_files()} == {
        f"file://{file}" for file in lake.path(THINGS).rglob("*.parquet") if "_delta_log" not in str(file)
    }


def test_duckdb_reads_it_too(lake: Lake, catalog: Catalog):
    write(lake, THINGS, table_of(THINGS, [thing("a", "x", "1"), thing("a", "y", "2")]))
    publish(lake, THINGS, catalog)
    engine = catalog.load_table((NAMESPACE, "things")).scan().to_duckdb("things")
    assert engine.execute("SELECT repo, count(*), sum(size) FROM things GROUP BY 1").fetchall() == [("a", 2, 2)]


def test_each_publication_is_one_snapshot_and_the_earlier_ones_stay_readable(lake: Lake, catalog: Catalog):
    write(lake, THINGS, table_of(THINGS, [thing("a", "x", "1"), thing("a", "y", "2")]))
    first, before = publish(lake, THINGS, catalog), held(lake)
    write(lake, THINGS, table_of(THINGS, [thing("a", "x", "1", 9)]), owners=("x",), run_id="2", cursor="c2")
    write(lake, THINGS, table_of(THINGS, [thing("b", "x", "1")]), partitions=["b"], run_id="3")
    second = publish(lake, THINGS, catalog)
    assert read(catalog) == held(lake) != before
    assert read(catalog, snapshot=first.snapshot) == before
    assert len(catalog.load_table((NAMESPACE, "things")).snapshots()) == 2
    assert held_versions(catalog, THINGS.name) == {first.delta_version, second.delta_version}


def test_what_is_published_already_gets_no_snapshot(lake: Lake, catalog: Catalog):
    write(lake, THINGS, table_of(THINGS, [thing("a", "x", "1")]))
    first = publish(lake, THINGS, catalog)
    again = publish(lake, THINGS, catalog)
    assert (again.snapshot, again.files_shared) == (first.snapshot, 0)
    assert len(catalog.load_table((NAMESPACE, "things")).snapshots()) == 1


def test_only_the_last_snapshots_are_kept(lake: Lake, catalog: Catalog):
    for size in range(4):
        write(lake, THINGS, table_of(THINGS, [thing("a", "x", "1", size)]), run_id=str(size), cursor=f"c{size}")
        publish(lake, THINGS, catalog, keep=2)
    latest = lake.open(THINGS).version()
    assert held_versions(catalog, THINGS.name) == {latest - 1, latest}
    assert read(catalog) == held(lake)


def test_a_reader_that_asks_for_a_partition_opens_only_its_files(lake: Lake, catalog: Catalog):
    rows = [thing("a", "x", "1"), thing("b", "y", "2")]
    write(lake, THINGS, table_of(THINGS, rows), partitions=["a", "b"])
    publish(lake, THINGS, catalog)
    scan = catalog.load_table((NAMESPACE, "things")).scan(row_filter="repo = 'b'", selected_fields=("repo", "path"))
    assert len(list(scan.plan_files())) == 1
    assert scan.to_arrow().to_pylist() == [{"repo": "b", "path": "y"}]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_partitions_of_every_kind_come_back_as_they_were(shape: Shape, lake: Lake, catalog: Catalog):
    contract = shape.contract()
    rows = [shape.row(place, "p", "n", number) for number, place in enumerate(shape.places)]
    write(lake, contract, table_of(contract, rows), partitions=shape.every)
    publish(lake, contract, catalog)
    assert read(catalog) == sorted(rows_of(lake, contract), key=str)


def test_a_column_that_came_later_is_null_in_earlier_rows(lake: Lake, catalog: Catalog):
    contract = SHAPES[0].contract()
    row = SHAPES[0].row(SHAPES[0].places[0], "p", "n", 1)
    write(lake, contract, table_of(contract, [row]), partitions=SHAPES[0].scopes)
    publish(lake, contract, catalog)
    wider = table_of(contract, [{**row, "path": "q"}]).append_column("extra", pa.array([5], pa.int64()))
    write(lake, contract, wider, partitions=SHAPES[0].scopes, owners=("q",), run_id="2", cursor="c2")
    publish(lake, contract, catalog)
    assert [(row["path"], row["extra"]) for row in read(catalog)] == [("p", None), ("q", 5)]


def test_a_table_that_spark_merged_into_is_published_in_the_same_files(
    lake: Lake, catalog: Catalog, spark: SparkSession
):
    """Spark's MERGE leaves an empty column `_change_type` in data files, which is no column of the table."""
    write(lake, THINGS, table_of(THINGS, [thing("a", "x", "1"), thing("a", "x", "2", tags=["t"])]))
    publish(lake, THINGS, catalog)
    merged = table_of(THINGS, [thing("a", "x", "1", 5), thing("a", "x", "3")])
    write(lake, THINGS, merged, owners=(), run_id="2", cursor="c2", executor="spark", spark=spark)
    expected = [("1", 5), ("2", 1), ("3", 1)]
    present = [Path(local(lake.path(THINGS)), file) for file in lake.open(THINGS).file_uris()]
    assert any("_change_type" in pq.read_schema(file).names for file in present)
    done = publish(lake, THINGS, catalog)
    assert done.files_shared > 0
    assert done.files_copied == 0
    assert [(row["name"], row["size"]) for row in read(catalog)] == expected
    table = catalog.load_table((NAMESPACE, "things"))
    assert "_change_type" not in table.scan().to_arrow().column_names
    engine = table.scan(row_filter="size > 1").to_duckdb("things")
    assert engine.execute("SELECT name, size FROM things").fetchall() == [("1", 5)]
    columns = {each.field_id for each in table.schema().fields} | {table.schema().find_field("tags.element").field_id}
    assert all(set(task.file.column_sizes) <= columns for task in table.scan().plan_files())
    write(lake, THINGS, table_of(THINGS, [thing("a", "x", "2", 8)]), owners=(), run_id="3", cursor="c3")
    publish(lake, THINGS, catalog)
    assert [(row["name"], row["size"]) for row in read(catalog)] == [("1", 5), ("2", 8), ("3", 1)]


def test_a_file_that_iceberg_could_not_read_is_copied(
    lake: Lake, catalog: Catalog, spark: SparkSession, settings: Settings
):
    """Spark's older way with timestamps is still the default of many writers."""
    shape = next(shape for shape in SHAPES if shape.name == "windows of moments")
    contract = shape.contract()
    rows = [shape.row(place, "p", "n", number) for number, place in enumerate(shape.places)]
    write(lake, contract, table_of(contract, rows), partitions=shape.every)
    plain = contract.__class__(**{**contract.__dict__, "partition_by": ()})
    other = Lake(settings.home / "other")
    path = str(other.path(plain))
    setting = "spark.sql.parquet.outputTimestampType"
    ours = str(spark.conf.get(setting))
    spark.conf.set(setting, "INT96")
    try:
        frame = spark.read.format("delta").load(str(lake.path(contract)))
        frame.write.format("delta").option("delta.enableChangeDataFeed", "true").save(path)
    finally:
        spark.conf.set(setting, ours)
    done = publish(other, plain, catalog)
    assert done.files_copied > 0
    assert done.files_shared == 0
    assert read(catalog) == sorted(rows_of(lake, contract), key=str)


def test_a_table_whose_files_do_not_tell_all_is_refused(lake: Lake, catalog: Catalog):
    write(lake, THINGS, table_of(THINGS, [thing("a", "x", "1")]))
    DeltaTable(local(lake.path(THINGS))).alter.set_table_properties(
        {"delta.constraints.c": "size > 0"}, raise_if_not_exists=False
    )
    with pytest.raises(LakeStateError, match="beyond plain data files"):
        publish(lake, THINGS, catalog)


def test_the_command_publishes_what_it_is_told_and_refuses_the_rest(lake: Lake, settings: Settings, tmp_path: Path):
    save_samples(lake)
    done = lakehouse_json("publish", "definitions", "edges")
    assert [each["table"] for each in done] == ["definitions", "edges"]
    assert all(each["files_shared"] for each in done)
    assert [each["files_shared"] for each in lakehouse_json("publish", "definitions", "edges")] == [0, 0]
    with pytest.raises(BadInputError, match="no table of that name"):
        lakehouse_json("publish", "nothing")


def test_an_ingested_table_is_published_without_bounds_of_what_is_sensitive(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    secret = "Zyx98765-planted"
    monkeypatch.setenv("LAKEHOUSE_INGEST", str(tmp_path))
    said = """
connections: {{shop: {{kind: sqlite, path: {path}}}}}
ingest:
  - {{name: people, connection: shop, table: people, key: [id], strategy: snapshot,
     columns: [{{name: email, sensitive: true}}]}}
"""
    (tmp_path / "shop.yaml").write_text(said.format(path=tmp_path / "shop.db"))
    database = SqliteConnection(kind="sqlite", path=str(tmp_path / "shop.db"))
    run_sql(database, ["CREATE TABLE people (id INTEGER, email TEXT)", f"INSERT INTO people VALUES (1, '{secret}')"])
    lakehouse_json("ingest", "people")
    (done,) = lakehouse_json("publish", "people")
    assert (done["files_shared"], done["files_copied"]) == (1, 0)
    table = open_catalog(settings.home).load_table((NAMESPACE, "people"))
    assert table.scan().to_arrow().to_pylist() == [{"id": 1, "email": secret}]
    (file,) = [task.file for task in table.scan().plan_files()]
    assert set(file.lower_bounds) == set(file.upper_bounds) == {table.schema().find_field("id").field_id}
    assert [hold.version for hold in iceberg_snapshots(settings) if hold.table == "people"] == [done["delta_version"]]
