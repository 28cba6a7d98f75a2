"""The asset `file_changes`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.derivations import tasks_of
from lakehouse_assets.assets.options import table_asset
from lakehouse_assets.assets.run import RepositoryRun
from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.changed_files import Update, read_update
from lakehouse_assets.lake.changed_files import file_changes as changed_rows
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.step_engine import StepEngine
from lakehouse_assets.plan.cursors import read_position
from lakehouse_assets.plan.staleness import MaterializationKey
from lakehouse_assets.recipes.change import FILE_CHANGES_RECIPE


@asset(**table_asset(FILE_CHANGES_RECIPE))
def file_changes(
    context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource
) -> Iterator[Output[Batches]]:
    """One row per file that the last update with changes changed."""
    run = RepositoryRun(context, lakehouse, spark)
    with run.steps() as engine:
        yield from run.handed_over(last_updates(engine, lakehouse, run.names))


@explained()
def last_updates(engine: StepEngine, lakehouse: LakehouseResource, repos: Sequence[str]) -> Batches:
    """The rows of the stale partitions, each with the position up to which `snapshots` was read for it.

    The feed is always read on from where it was left: an update is between two positions, whatever the code. So what is
    fresh is not made again, whoever asks: the update that it tells of is past.
    """
    failed = FailedPartitions()
    lake = lakehouse.lake
    latest = Ledger(lake).latest([COMMITS, SNAPSHOTS, BLOBS, FILE_CHANGES])
    tasks, untouched = tasks_of(FILE_CHANGES_RECIPE.derivation, repos, latest, failed)
    keys: dict[str, MaterializationKey] = {}
    updates: dict[str, Update] = {}
    for task in tasks:
        repo = task.key.partition
        with failed.alone(repo):
            stored = latest.get((FILE_CHANGES.name, repo))
            since = read_position(stored.cursor) if stored is not None else None
            update = read_update(lake, repo, since, latest[(COMMITS.name, repo)].cursor)
            updates[repo], keys[repo] = update, replace(task.key, cursor=update.position.text)

    def changed(names: Sequence[str]) -> Batch:
        rows = changed_rows(engine, [updates[name].sides for name in names])
        return Batch(rows=rows, keys=tuple(keys[name] for name in names), part=changed)

    batches = failed.in_parts([name for name, update in updates.items() if update.changed], changed)
    # With no file changed the rows of the last update stay, and only the position moves.
    same = tuple(keys[name] for name, update in updates.items() if not update.changed)
    if same:
        batches.append(Batch(rows=arrow_schema(FILE_CHANGES.columns).empty_table(), keys=same, owners=()))
    return Batches(batches=tuple(batches), untouched=untouched, failed=failed)
