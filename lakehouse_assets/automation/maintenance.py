"""Jobs that keep the lake and Dagster's own records small, and tell how tables are doing.

Their schedules are off at first. Steps, not assets: they change no row, so that nothing downstream may take them for
news.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

from dagster import (
    AssetKey,
    AssetObservation,
    AssetRecordsFilter,
    DagsterEventType,
    DagsterInstance,
    DagsterRunStatus,
    DefaultScheduleStatus,
    MetadataValue,
    OpExecutionContext,
    Output,
    RunsFilter,
    ScheduleDefinition,
    TableRecord,
    job,
    op,
)

from lakehouse_assets.assets import garbage, maintenance
from lakehouse_assets.assets.holders import cursors, deliveries
from lakehouse_assets.assets.stale_counts import StaleCount, stale_counts
from lakehouse_assets.automation.jobs import EXECUTOR
from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.materializations import MATERIALIZATIONS
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.lake.environment_holds import collect_garbage as collect_environments
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.recent_writes import Written, written_since
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.table_health import Health, table_health
from lakehouse_assets.plan.staleness import Staleness
from lakehouse_assets.sources.sql.ingested import ingested_contracts

_FINISHED = [DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED]
_RUNS_AT_ONCE = 200
_LATELY = timedelta(hours=1)
"""As often as tables are observed."""
_REASONS_SHOWN = 100
"""Of what is stale; `lakehouse status` tells of all."""


@op(description="Write small files together where it is worth it. No row changes.")
def optimize_tables(lakehouse: LakehouseResource) -> Output[int]:
    with explained():
        plans = [plan for plan in maintenance.optimize(lakehouse.settings) if plan.bins]
    saved = sum(plan.files - plan.files_after for plan in plans)
    return Output(saved, metadata={"tables": len(plans), "files_saved": saved})


@op(description="Delete what no repository refers to, and tables of models that no environment refers to.")
def collect_garbage(lakehouse: LakehouseResource, after: int) -> Output[int]:
    with explained():
        found = garbage.collect_garbage(lakehouse.settings)
        freed = collect_environments(lakehouse.lake)
    rows = sum(each.rows or 0 for each in found)
    return Output(rows, metadata={"rows_deleted": rows, "things": len(found), "model_tables": len(freed.tables)})


@op(description="Remove from disk what nobody holds, and tell who holds the rest.")
def vacuum_tables(lakehouse: LakehouseResource, after: int) -> Output[int]:
    with explained():
        done = maintenance.vacuum(lakehouse.settings)
    freed = sum(each.plan.bytes for each in done)
    held: dict[str, int] = {}
    for one in (one for each in done for one in each.plan.held):
        held[one.by] = held.get(one.by, 0) + one.bytes
    files = sum(len(each.plan.remove) for each in done)
    shown = {"bytes_freed": freed, "files_removed": files, "bytes_held_by": MetadataValue.json(held)}
    return Output(freed, metadata=shown)


@op(description="Delete Dagster's records of runs that are older than LAKEHOUSE_KEEP_RUNS_DAYS.")
def forget_old_runs(context: OpExecutionContext, lakehouse: LakehouseResource, after: int) -> Output[int]:
    before = datetime.now(UTC) - timedelta(days=lakehouse.settings.keep_runs_days)
    forgotten = delete_runs(context.instance, before)
    return Output(forgotten, metadata={"runs_deleted": forgotten})


def delete_runs(instance: DagsterInstance, before: datetime) -> int:
    """Delete finished runs and their events; gives how many. A run that an asset partition was last made by stays,
    for the UI would call the partition missing."""
    needed = _last_makers(instance)
    deleted = 0
    cursor: str | None = None
    while True:
        older = RunsFilter(statuses=_FINISHED, created_before=before)
        runs = [record.dagster_run.run_id for record in instance.get_run_records(older, _RUNS_AT_ONCE, cursor=cursor)]
        if not runs:
            return deleted
        cursor = runs[-1]
        for run_id in runs:
            if run_id not in needed:
                instance.delete_run(run_id)
                deleted += 1


def _last_makers(instance: DagsterInstance) -> set[str]:
    """The runs that made what the UI shows of each asset partition."""
    found: set[str] = set()
    storage = instance.event_log_storage
    for key in instance.all_asset_keys():
        ids = list(storage.get_latest_storage_id_by_partition(key, DagsterEventType.ASSET_MATERIALIZATION).values())
        latest = instance.get_latest_materialization_event(key)
        found |= {latest.run_id} if latest is not None else set()
        for start in range(0, len(ids), _RUNS_AT_ONCE):
            wanted = AssetRecordsFilter(asset_key=key, storage_ids=ids[start : start + _RUNS_AT_ONCE])
            found |= {record.run_id for record in instance.fetch_materializations(wanted, limit=_RUNS_AT_ONCE).records}
    return found


@op(description="Tell of each table its files, small files, bytes, the lag of its readers, and what of it is stale.")
def observe_tables(context: OpExecutionContext, lakehouse: LakehouseResource) -> int:
    """One observation for each: the page of an asset shows the numbers of the latest, and no others.

    What plots over time is told of the lake's own records as well, for they have no partitions.
    """
    with explained():
        settings = lakehouse.settings
        contracts = [*CATALOG.values(), *ingested_contracts(settings)]
        tables = table_health(lakehouse.lake, contracts, [*cursors(settings), *deliveries(settings)])
        counts = stale_counts(settings)
        lately = written_since(lakehouse.lake, datetime.now(UTC) - _LATELY)
    told = {each.table: _metadata(each) for each in tables}
    for each in counts:
        told[each.asset] = told.get(each.asset, {}) | _metadata(each) | _staleness(each.reasons)
    told[MATERIALIZATIONS.name] = told.get(MATERIALIZATIONS.name, {}) | _by_asset("stale_partitions", counts)
    told[MATERIALIZATIONS.name] |= _staleness([reason for each in counts for reason in each.reasons])
    for number in ("rows_changed", "bytes_added", "seconds"):
        told[WRITES.name] = told.get(WRITES.name, {}) | _by_asset(number, lately)
    for name, shown in told.items():
        context.log_event(AssetObservation(asset_key=AssetKey(name), metadata=shown))
    return len(told)


def _by_asset(number: str, told: Sequence[StaleCount | Written]) -> dict[str, MetadataValue]:
    """A number of each asset, and their sum."""
    values = {f"{number}/{each.asset}": getattr(each, number) for each in told}
    values[number] = sum(values.values())
    return {
        name: MetadataValue.int(value) if isinstance(value, int) else MetadataValue.float(round(value, 3))
        for name, value in values.items()
    }


def _staleness(reasons: Sequence[Staleness]) -> dict[str, MetadataValue]:
    """Which partitions are stale, because of which part of their keys, as a table; none if all are fresh."""
    records = [
        TableRecord(
            {
                "asset": reason.asset,
                "partition": reason.partition,
                "because_of": reason.part,
                "made_with": reason.differing[0],
                "should_be": reason.differing[1],
            }
        )
        for reason in reasons[:_REASONS_SHOWN]
    ]
    return {"staleness": MetadataValue.table(records)} if records else {}


def _metadata(told: Health | StaleCount) -> dict[str, MetadataValue]:
    """Numbers plot over time; moments and names are shown as they are."""
    shown: dict[str, MetadataValue] = {}
    for name, value in asdict(told).items():
        match value:
            case int():
                shown[name] = MetadataValue.int(value)
            case datetime():
                shown[name] = MetadataValue.timestamp(value)
            case str():
                shown[name] = MetadataValue.text(value)
            case _:
                continue
    return shown


@job(executor_def=EXECUTOR, description="Compact, collect garbage, vacuum, and forget old runs.")
def maintain() -> None:
    forget_old_runs(vacuum_tables(collect_garbage(optimize_tables())))


@job(executor_def=EXECUTOR, description="Observe the health of every table, and how much of every asset is stale.")
def table_health_job() -> None:
    observe_tables()


nightly_maintenance = ScheduleDefinition(
    name="nightly_maintenance",
    job=maintain,
    cron_schedule="30 2 * * *",
    default_status=DefaultScheduleStatus.STOPPED,
    description="Keeps tables and Dagster's records small, at night.",
)
hourly_table_health = ScheduleDefinition(
    name="hourly_table_health",
    job=table_health_job,
    cron_schedule="15 * * * *",
    default_status=DefaultScheduleStatus.STOPPED,
    description="Observes the health of every table, and which partitions of every asset are stale, and why.",
)
MAINTENANCE_JOBS = (maintain, table_health_job)
MAINTENANCE_SCHEDULES = (nightly_maintenance, hourly_table_health)
