"""The kept storage against Dagster's own, event by event."""

from pathlib import Path

from dagster import AssetKey, AssetMaterialization, DagsterEventType, EventLogEntry
from dagster._core.definitions.events import AssetObservation
from dagster._core.events import (
    AssetMaterializationPlannedData,
    AssetObservationData,
    DagsterEvent,
    StepMaterializationData,
)
from dagster._core.storage.event_log.schema import AssetKeyTable
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage

from lakehouse_assets.automation.storage import KeptEventLogStorage

RUN = "0" * 8
EDGES, NODES = AssetKey("edges"), AssetKey("nodes")


def entry(kind: DagsterEventType, data: object, second: int) -> EventLogEntry:
    event = DagsterEvent(event_type_value=kind.value, job_name="sync", event_specific_data=data)  # pyright: ignore[reportArgumentType]
    return EventLogEntry(
        error_info=None, level=10, user_message="", run_id=RUN, timestamp=1_700_000_000.0 + second, dagster_event=event
    )


def planned(key: AssetKey, partition: str, second: int) -> EventLogEntry:
    data = AssetMaterializationPlannedData(asset_key=key, partition=partition)
    return entry(DagsterEventType.ASSET_MATERIALIZATION_PLANNED, data, second)


def made(key: AssetKey, partition: str, second: int) -> EventLogEntry:
    told = AssetMaterialization(asset_key=key, partition=partition, metadata={"second": second})
    return entry(DagsterEventType.ASSET_MATERIALIZATION, StepMaterializationData(told), second)


def observed(key: AssetKey, second: int) -> EventLogEntry:
    return entry(DagsterEventType.ASSET_OBSERVATION, AssetObservationData(AssetObservation(asset_key=key)), second)


def asset_rows(storage: SqliteEventLogStorage) -> list[tuple[object, ...]]:
    with storage.index_connection() as connection:
        rows = connection.execute(AssetKeyTable.select().order_by(AssetKeyTable.c.asset_key)).fetchall()
    when = [column.name for column in AssetKeyTable.columns].index("create_timestamp")
    return [tuple(value for number, value in enumerate(row) if number != when) for row in rows]


def test_a_batch_leaves_what_dagster_leaves_that_stores_its_events_one_by_one(tmp_path: Path):
    batches = [
        [planned(key, name, 1) for key in (EDGES, NODES) for name in "abc"],
        [made(EDGES, name, second) for second, name in enumerate("abc", 2)],
        [made(NODES, "a", 5), observed(NODES, 6), planned(EDGES, "a", 7), observed(EDGES, 8), made(NODES, "b", 9)],
    ]
    kept, plain = KeptEventLogStorage(str(tmp_path / "kept")), SqliteEventLogStorage(str(tmp_path / "plain"))
    for events in batches:
        kept.store_event_batch(events)
        for event in events:
            plain.store_event(event)
        assert asset_rows(kept) == asset_rows(plain)
    assert kept.get_materialized_partitions(EDGES) == plain.get_materialized_partitions(EDGES) == {"a", "b", "c"}
    kept.dispose()
