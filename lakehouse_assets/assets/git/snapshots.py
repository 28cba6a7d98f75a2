"""The asset `snapshots`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.git.work import changed_files, key_of, keys_of, since_of, whole_batch, work_of
from lakehouse_assets.assets.options import table_asset
from lakehouse_assets.assets.readings import readings_at_commits
from lakehouse_assets.assets.run import RepositoryRun
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.recipes.catalog import RECIPES
from lakehouse_assets.sources.reads import Reading, snapshots_of
from lakehouse_assets.sources.snapshot import SnapshotChanges
from lakehouse_assets.sources.spark_reads import snapshots_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@asset(**table_asset(RECIPES[SNAPSHOTS.name]))
def snapshots(
    context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource
) -> Iterator[Output[Batches]]:
    """One row per file at the head commit."""
    failed = FailedPartitions()
    run = RepositoryRun(context, lakehouse, spark)
    readings = readings_at_commits(lakehouse, run.names, failed)

    def on_spark(whole: Sequence[Reading]) -> "DataFrame":
        return snapshots_frame(run.session(), whole)

    with explained():
        latest = lakehouse.ledger.latest([SNAPSHOTS])
        work = work_of(SNAPSHOTS, readings, latest, run.makes)
        onward, anew = changed_files(work.onward, run.engine, failed)
        whole = whole_batch(
            SNAPSHOTS, [*work.anew, *anew], here=snapshots_of, on_spark=on_spark, engine=run.engine, failed=failed
        )
    made = Batches(batches=(*_batches(onward), *whole), untouched=work.untouched, failed=failed)
    yield from run.handed_over(made)


def _batches(onward: Sequence[tuple[Reading, SnapshotChanges]]) -> list[Batch]:
    """What changed, with as few commits to the table as can be.

    A batch that names owners speaks for them in all its partitions, so that it can have one only. Where no file
    went away, the rows themselves say what they replace, and repositories can share a batch.
    """
    alone: list[Batch] = []
    shared: list[tuple[Reading, SnapshotChanges]] = []
    for reading, changes in onward:
        if len(onward) > 1 and changes.rows.num_rows == len(changes.paths):
            shared.append((reading, changes))
        else:
            alone.append(
                Batch(
                    rows=changes.rows,
                    keys=(key_of(SNAPSHOTS, reading),),
                    owners=changes.paths,
                    since=since_of([reading]),
                )
            )
    if not shared:
        return alone
    rows = pa.concat_tables([changes.rows for _, changes in shared])
    moved = [reading for reading, _ in shared]
    return [*alone, Batch(rows=rows, keys=keys_of(SNAPSHOTS, moved), owners=(), since=since_of(moved))]
