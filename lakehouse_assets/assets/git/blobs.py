"""The asset `blobs`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.git.work import Latest, changed_files, key_of, keys_of, work_of
from lakehouse_assets.assets.options import table_asset
from lakehouse_assets.assets.readings import readings_at_commits
from lakehouse_assets.assets.run import RepositoryRun
from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.missing_contents import missing_here, missing_on_spark
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import in_list
from lakehouse_assets.recipes.catalog import RECIPES
from lakehouse_assets.sources.reads import Reading, blobs_table
from lakehouse_assets.sources.spark_reads import blobs_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FILES = ["repo", "blob_sha", "kind", "size"]


@asset(**table_asset(RECIPES[BLOBS.name]))
def blobs(
    context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource
) -> Iterator[Output[Batches]]:
    """One row per blob sha across all repositories, branches and forks."""
    failed = FailedPartitions()
    run = RepositoryRun(context, lakehouse, spark)
    readings = readings_at_commits(lakehouse, run.names, failed)

    def on_spark(snapshots: pa.Table, read: Sequence[Reading]) -> "DataFrame":
        missing = missing_on_spark(run.session(), lakehouse.lake, snapshots)
        return blobs_frame(missing, read, slices=lakehouse.settings.cores)

    with explained():
        latest = lakehouse.ledger.latest([SNAPSHOTS, BLOBS])
        work = work_of(BLOBS, readings, latest, run.makes)
        onward, anew = changed_files(work.onward, run.engine, failed)
        files = {reading.name: changes.rows.select(_FILES) for reading, changes in onward}
        files |= _stored_files(lakehouse.lake, [*work.anew, *anew], latest, failed)
        read = [reading for reading in readings if reading.name in files]
        batches = _batches(lakehouse.lake, read, files, on_spark if run.engine.engine == "spark" else None, failed)
    made = Batches(batches=batches, untouched=work.untouched, failed=failed)
    yield from run.handed_over(made)


def _batches(
    lake: Lake,
    readings: Sequence[Reading],
    files: Mapping[str, pa.Table],
    on_spark: "Callable[[pa.Table, Sequence[Reading]], DataFrame] | None",
    failed: FailedPartitions,
) -> tuple[Batch, ...]:
    """What the table lacks of the repositories' files, without those repositories that cannot be read.

    A content that several have is read from one of them: if that one fails, what is missing is found again.
    """
    left = [reading for reading in readings if reading.name not in failed]
    if not left:
        return ()
    snapshots = pa.concat_tables([files[reading.name] for reading in left])
    if on_spark is None:
        missing = missing_here(lake, snapshots)
        tables: list[pa.Table] = []
        for name in dict.fromkeys(missing["repo"].to_pylist()):
            with failed.alone(name):
                tables.append(blobs_table(missing.filter(pc.field("repo") == name), left))
        if any(reading.name in failed for reading in left):
            return _batches(lake, left, files, on_spark, failed)
        rows = pa.concat_tables([arrow_schema(BLOBS.columns).empty_table(), *tables])
    else:
        rows = on_spark(snapshots, left)

    def part(names: Sequence[str]) -> Batch:
        (batch,) = _batches(lake, [reading for reading in left if reading.name in names], files, on_spark, failed)
        return batch

    return (Batch(rows=rows, keys=keys_of(BLOBS, left), part=part),)


def _stored_files(
    lake: Lake, readings: Sequence[Reading], latest: Latest, failed: FailedPartitions
) -> dict[str, pa.Table]:
    """By name the files that `snapshots` has of the repositories; refused where it tells of another commit."""
    names: list[str] = []
    for reading in readings:
        with failed.alone(reading.name):
            entry = latest.get((SNAPSHOTS.name, reading.name))
            if entry is None or entry.key != key_of(SNAPSHOTS, reading):
                raise LakeStateError(
                    subject=f"repository {reading.name!r}",
                    seen="its `snapshots` are not those of the commit that `commits` has",
                    why="contents of files would be missed",
                    remedy="materialize `snapshots` for this partition first, or run `lakehouse sync`",
                )
            names.append(reading.name)
    if not names:
        return {}
    files = lake.read(SNAPSHOTS, columns=_FILES, where=in_list('"repo"', names, "datafusion"))
    return {name: files.filter(pc.field("repo") == name) for name in names}
