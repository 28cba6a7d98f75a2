"""The IO manager in Dagster's hands: partitions, columns, types, and per-partition data versions."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from dagster import (
    AssetIn,
    AssetKey,
    BackfillPolicy,
    DagsterInstance,
    DailyPartitionsDefinition,
    DataVersion,
    Definitions,
    DynamicPartitionsDefinition,
    Failure,
    MaterializeResult,
    MultiPartitionsDefinition,
    Output,
    StaticPartitionsDefinition,
    TableMetadataValue,
    asset,
    materialize,
)
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest
from pyspark.sql import DataFrame, SparkSession

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake import io_manager as module
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.io_manager import COLUMNS, DeltaIOManager
from lakehouse_assets.lake.partition_scopes import partition_scope
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.row_hash import content_of
from lakehouse_assets.plan.scope import scope_predicate
from lakehouse_assets_tests.support.writes import THINGS, key, rows_of, table_of, thing

REPOS = DynamicPartitionsDefinition(name="repos")


@pytest.fixture
def instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[DagsterInstance]:
    monkeypatch.setattr(module, "CATALOG", {"things": THINGS})
    with DagsterInstance.local_temp(str(tmp_path)) as instance:
        instance.add_dynamic_partitions("repos", ["a", "b", "c"])
        yield instance


def resources() -> dict[str, Any]:
    lakehouse, spark = LakehouseResource(), SparkResource()
    return {"delta": DeltaIOManager(lakehouse=lakehouse, spark=spark), "lakehouse": lakehouse, "spark": spark}


CONTENT = {"a": [thing("a", "x.py", "f")], "b": [thing("b", "x.py", "f"), thing("b", "y.py", "g")], "c": []}


@asset(name="things", partitions_def=REPOS, io_manager_key="delta", backfill_policy=BackfillPolicy.single_run())
def things(context) -> Batch:
    rows = [row for name in context.partition_keys for row in CONTENT[name]]
    return Batch(rows=table_of(THINGS, rows), keys=tuple(key("things", name) for name in context.partition_keys))


def run_range(instance: DagsterInstance, assets: list[Any], first: str, last: str) -> Any:
    tags = {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}
    return materialize(assets, instance=instance, resources=resources(), tags=tags)


def data_version(instance: DagsterInstance, partition: str) -> str | None:
    event = instance.get_latest_data_version_record(AssetKey("things"), partition_key=partition)
    assert event is not None
    assert event.asset_materialization is not None
    return (event.asset_materialization.tags or {}).get("dagster/data_version")


def expected_version(name: str) -> str:
    rows = CONTENT[name]
    return content_of(THINGS.columns, [[row[c.name] for row in rows] for c in THINGS.columns]).version


def test_a_single_run_over_many_partitions_is_one_commit_and_each_partition_has_its_own_data_version(
    instance: DagsterInstance, lake: Lake
):
    result = run_range(instance, [things], "a", "c")
    assert result.success
    assert lake.open(THINGS).version() == 1
    for name in "abc":
        assert data_version(instance, name) == expected_version(name)
    event = instance.get_latest_data_version_record(AssetKey("things"), partition_key="b")
    assert event is not None
    metadata = event.asset_materialization.metadata if event.asset_materialization else {}
    assert metadata["dagster/partition_row_count"].value == 2
    numbers = ("rows_inserted", "rows_updated", "rows_deleted", "partitions_written_together", "version_after")
    assert [metadata[name].value for name in numbers] == [2, 0, 0, 3, 1]
    assert "write_deltalake(" in str(metadata["statement"].value)


@asset(partitions_def=REPOS, backfill_policy=BackfillPolicy.single_run(), code_version="v")
def roots(context) -> MaterializeResult:
    return MaterializeResult(data_version=DataVersion(context.run.tags.get("version", "v1")))


@asset(
    name="things",
    deps=[roots],
    code_version="v",
    partitions_def=REPOS,
    io_manager_key="delta",
    backfill_policy=BackfillPolicy.single_run(),
)
def things_of_roots(context) -> Batch:
    return Batch(rows=table_of(THINGS, []), keys=tuple(key("things", name) for name in context.partition_keys))


def test_dagster_calls_each_partition_of_a_run_in_sync_until_its_input_changes(instance: DagsterInstance):
    graph = Definitions(assets=[roots, things_of_roots], resources=resources()).resolve_asset_graph()

    def states() -> list[StaleStatus]:
        resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
        return [resolver.get_status(AssetKey("things"), name) for name in "abc"]

    assert run_range(instance, [roots, things_of_roots], "a", "c").success
    assert states() == [StaleStatus.FRESH] * 3
    assert materialize([roots], instance=instance, partition_key="b", tags={"version": "v2"}).success
    assert states() == [StaleStatus.FRESH, StaleStatus.STALE, StaleStatus.FRESH]


def test_a_run_of_one_partition_sets_data_version_and_metadata_in_the_run_itself(instance: DagsterInstance):
    result = materialize([things], instance=instance, resources=resources(), partition_key="b")
    (event,) = result.asset_materializations_for_node("things")
    assert (event.tags or {})["dagster/data_version"] == expected_version("b")
    assert event.metadata["rows_inserted"].value == 2
    assert event.metadata["executor"].value == "delta-rs"
    observations = result.asset_observations_for_node("things")
    assert [o.metadata["rows_inserted"].value for o in observations] == [2]


def test_an_update_shows_the_files_whose_rows_changed_most(instance: DagsterInstance, monkeypatch: pytest.MonkeyPatch):
    few, many = thing("b", "few.py", "f"), [thing("b", "many.py", name) for name in "abc"]
    monkeypatch.setitem(CONTENT, "b", [few, thing("b", "same.py", "s"), *many])
    materialize([things], instance=instance, resources=resources(), partition_key="b")
    larger = [thing("b", "many.py", name, 7) for name in "ab"]  # c is gone
    monkeypatch.setitem(CONTENT, "b", [few, thing("b", "few.py", "g"), thing("b", "same.py", "s"), *larger])

    result = materialize([things], instance=instance, resources=resources(), partition_key="b")

    (event,) = result.asset_materializations_for_node("things")
    shown = event.metadata["biggest_changes"]
    assert isinstance(shown, TableMetadataValue)
    assert [tuple(record.data.values()) for record in shown.records] == [("b", "many.py", 2, 3), ("b", "few.py", 1, 0)]
    assert [event.metadata[f"rows_{name}"].value for name in ("inserted", "updated", "deleted")] == [1, 2, 1]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (pa.Table, lambda table: table.column_names),
        (pd.DataFrame, lambda frame: list(frame.columns)),
        (pl.DataFrame, lambda frame: frame.columns),
        (DataFrame, lambda frame: frame.columns),
    ],
)
def test_a_consumer_gets_the_type_and_the_columns_it_asks_for_and_only_its_partitions(
    instance: DagsterInstance, spark: SparkSession, wanted, names
):
    seen: dict[str, Any] = {}

    @asset(partitions_def=REPOS, ins={"things": AssetIn(metadata={COLUMNS: ["repo", "name"]})})
    def consumer(things: wanted) -> None:  # pyright: ignore[reportInvalidTypeForm]
        seen["names"] = names(things)
        seen["rows"] = things.count() if isinstance(things, DataFrame) else len(things)

    run_range(instance, [things], "a", "c")
    result = materialize(
        [things, consumer], selection=[consumer], instance=instance, resources=resources(), partition_key="b"
    )
    assert seen == {"names": ["repo", "name"], "rows": 2}
    (read,) = result.asset_observations_for_node("consumer")
    assert (read.metadata["files_read"].value, read.metadata["files_total"].value) == (1, 2)


def test_a_refusal_is_a_failure_whose_description_says_what_to_do(instance: DagsterInstance, lake: Lake):
    @asset(name="things", partitions_def=REPOS, io_manager_key="delta")
    def wrong() -> Batch:
        return Batch(rows=table_of(THINGS, [thing("c", "x.py", "f")]), keys=(key("things", "a"),))

    with pytest.raises(Failure) as failure:
        materialize([wrong], instance=instance, resources=resources(), partition_key="a")
    assert "outside the run's partitions" in (failure.value.description or "")
    assert "What to do:" in (failure.value.description or "")
    assert rows_of(lake, THINGS) == []


def contract(*types: tuple[str, str]) -> TableContract:
    from lakehouse_assets.contracts.table import Column

    columns = tuple(Column(name=name, type=kind, description="Column.") for name, kind in types)  # pyright: ignore[reportArgumentType]
    names = tuple(name for name, _ in types)
    return TableContract(name="t", description="T.", columns=columns, key=names, partition_by=names, strategy="upsert")


@pytest.mark.parametrize(
    ("types", "definition", "partition", "predicate"),
    [
        ([("repo", "string")], StaticPartitionsDefinition(["it's"]), "it's", "\"repo\" IN ('it''s')"),
        ([("year", "int")], StaticPartitionsDefinition(["2024"]), "2024", '"year" IN (2024)'),
        (
            [("day", "date")],
            DailyPartitionsDefinition("2024-01-01"),
            "2024-01-31",
            "\"day\" >= DATE '2024-01-31' AND \"day\" < DATE '2024-02-01'",
        ),
        (
            [("at", "timestamp")],
            DailyPartitionsDefinition("2024-01-01"),
            "2024-01-31",
            "\"at\" >= TIMESTAMPTZ '2024-01-31 00:00:00.000000+00:00'"
            " AND \"at\" < TIMESTAMPTZ '2024-02-01 00:00:00.000000+00:00'",
        ),
        (
            [("repo", "string"), ("year", "int")],
            MultiPartitionsDefinition(
                {"repo": StaticPartitionsDefinition(["a"]), "year": StaticPartitionsDefinition(["2024"])}
            ),
            "a|2024",
            '"repo" = \'a\' AND "year" = 2024',
        ),
    ],
)
def test_partitions_of_every_kind_become_literal_predicates(types, definition, partition, predicate):
    scope = partition_scope(contract(*types), definition, partition)
    assert scope_predicate((scope,), "duckdb") == predicate


def test_a_partition_whose_rows_are_refused_is_left_out_and_the_others_are_told_of_each_by_itself(
    instance: DagsterInstance, lake: Lake
):
    failed = FailedPartitions()

    @asset(name="things", partitions_def=REPOS, io_manager_key="delta", backfill_policy=BackfillPolicy.single_run())
    def some_bad(context) -> Iterator[Output[Batches]]:
        twice = [thing("b", "x.py", "f"), thing("b", "x.py", "f")]
        rows = table_of(THINGS, [thing("a", "x.py", "f"), *twice, thing("c", "x.py", "f")])
        batch = Batch(rows=rows, keys=tuple(key("things", name) for name in context.partition_keys))
        yield Output(Batches(batches=(batch,), failed=failed))

    assert run_range(instance, [some_bad], "a", "c").success
    assert list(failed.errors) == ["b"]
    assert {row["repo"] for row in lake.rows(THINGS)} == {"a", "c"}
    told = [
        record.asset_materialization for record in instance.fetch_materializations(AssetKey("things"), limit=10).records
    ]
    assert sorted(event.partition or "" for event in told if event) == ["a", "c"]
