"""The asset `blobs`."""

from collections.abc import Sequence

import pyarrow as pa
from dagster import AssetExecutionContext, asset

from lakehouse_assets.assets.git.options import git_asset
from lakehouse_assets.assets.git.snapshots import snapshots
from lakehouse_assets.assets.git.work import Latest, changed_files, key_of, keys_of, work_of
from lakehouse_assets.assets.readings import readings_at_commits
from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.missing_contents import are_few, missing_contents
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import in_list
from lakehouse_assets.sources.reads import Reading, blobs_table
from lakehouse_assets.sources.spark_reads import blobs_frame

_FILES = ["repo", "blob_sha", "kind", "size"]


@asset(**git_asset(BLOBS), deps=[snapshots])
def blobs(context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource) -> Batches:
    """One row per blob sha across all repositories, branches and forks."""
    readings = readings_at_commits(lakehouse, context.partition_keys)
    with explained():
        latest = lakehouse.ledger.latest([SNAPSHOTS, BLOBS])
        work = work_of(BLOBS, readings, latest)
        onward, anew = changed_files(work.onward)
        whole = [*work.anew, *anew]
        read = [*whole, *(reading for reading, _ in onward)]
        if not read:
            return Batches(batches=(), untouched=work.untouched)
        files = [changes.rows.select(_FILES) for _, changes in onward]
        files += [_stored_files(lakehouse.lake, whole, latest)] if whole else []
        missing = missing_contents(lakehouse.lake, pa.concat_tables(files))
        if are_few(missing):
            rows = blobs_table(missing, read)
        else:
            rows = blobs_frame(spark.spark_session, missing, read, slices=lakehouse.settings.cores)
    return Batches(batches=(Batch(rows=rows, keys=keys_of(BLOBS, read)),), untouched=work.untouched)


def _stored_files(lake: Lake, readings: Sequence[Reading], latest: Latest) -> pa.Table:
    """The files that `snapshots` has of the repositories; refused where it tells of another commit."""
    for reading in readings:
        name = reading.repository.name
        entry = latest.get((SNAPSHOTS.name, name))
        if entry is None or entry.key != key_of(SNAPSHOTS, reading):
            raise LakeStateError(
                subject=f"repository {name!r}",
                seen="its `snapshots` are not those of the commit that `commits` has",
                why="contents of files would be missed",
                remedy="materialize `snapshots` for this partition first, or run `lakehouse sync`",
            )
    names = [reading.repository.name for reading in readings]
    return lake.read(SNAPSHOTS, columns=_FILES, where=in_list('"repo"', names, "datafusion"))
