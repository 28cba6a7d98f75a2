"""The asset `commits`."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from dagster import AssetExecutionContext, Config, Output, asset

from lakehouse_assets.assets.git.work import Latest, key_of, keys_of, since_of, whole_batch, work_of
from lakehouse_assets.assets.options import table_asset
from lakehouse_assets.assets.readings import readings_at_heads
from lakehouse_assets.assets.run import RepositoryRun
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches, joined
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.stored_commits import stored_commits, stored_history
from lakehouse_assets.plan.staleness import stale_because
from lakehouse_assets.recipes.catalog import RECIPES
from lakehouse_assets.sources.commits import read_new_commits, read_over_stored
from lakehouse_assets.sources.reads import Reading, commits_of
from lakehouse_assets.sources.spark_reads import commits_frame
from lakehouse_assets.sources.trees import NotComparable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class CommitsConfig(Config):
    """Commits to read repositories at, by name; a repository that is not named is read at its newest."""

    heads: dict[str, str] = {}  # noqa: RUF012  # a pydantic field


@asset(**table_asset(RECIPES[COMMITS.name]))
def commits(
    context: AssetExecutionContext, config: CommitsConfig, lakehouse: LakehouseResource, spark: SparkResource
) -> Iterator[Output[Batches]]:
    """One row per commit reachable from the repository's ref."""
    failed = FailedPartitions()
    run = RepositoryRun(context, lakehouse, spark)
    readings = readings_at_heads(lakehouse, run.names, config.heads, failed)

    def on_spark(whole: Sequence[Reading]) -> "DataFrame":
        return commits_frame(run.session(), whole)

    engine = run.engine_at({reading.name: reading.head.commit_sha for reading in readings})
    with explained():
        latest = lakehouse.ledger.latest([COMMITS])
        work = work_of(COMMITS, readings, latest, run.makes)
        onward, tables, beside = _new_commits(lakehouse, work.onward, failed)
        moved = [reading for reading in work.anew if _is_elsewhere_alone(reading, latest)]
        rewritten, anew = _over_stored(lakehouse, [*beside, *moved], failed)
        left = [reading for reading in work.anew if reading not in moved]
        batches = whole_batch(COMMITS, [*left, *anew], here=commits_of, on_spark=on_spark, engine=engine, failed=failed)
    batches += joined([Batch(rows=rows, keys=keys_of(COMMITS, [reading])) for reading, rows in rewritten])
    if onward:
        # These rows and no others differ, in whichever repository.
        batches += (
            Batch(rows=pa.concat_tables(tables), keys=keys_of(COMMITS, onward), owners=(), since=since_of(onward)),
        )
    made = Batches(batches=batches, untouched=work.untouched, failed=failed)
    yield from run.handed_over(made)


def _new_commits(
    lakehouse: LakehouseResource, readings: Sequence[Reading], failed: FailedPartitions
) -> tuple[list[Reading], list[pa.Table], list[Reading]]:
    """The readings that only add commits, with these, and the others."""
    onward: list[Reading] = []
    tables: list[pa.Table] = []
    beside: list[Reading] = []
    for reading in readings:
        with failed.alone(reading.name):
            stored = partial(stored_commits, lakehouse.lake, reading.name)
            found = read_new_commits(reading.git_dir, reading.name, reading.head, str(reading.since), stored)
            if isinstance(found, NotComparable):
                report("sources", reading.name, f"commits may be gone: {found.reason}")
                beside.append(reading)
            else:
                onward.append(reading)
                tables.append(found)
    return onward, tables, beside


def _is_elsewhere_alone(reading: Reading, latest: Latest) -> bool:
    """Whether its rows were made by this code from the whole of another history, of whatever place and files."""
    stored = latest.get((COMMITS.name, reading.name))
    if stored is None or not stored.cursor:
        return False
    reasons = stale_because(key_of(COMMITS, reading), stored.key)
    return bool(reasons) and all(reason.part in ("cursor", "settings_hash") for reason in reasons)


def _over_stored(
    lakehouse: LakehouseResource, readings: Sequence[Reading], failed: FailedPartitions
) -> tuple[list[tuple[Reading, pa.Table]], list[Reading]]:
    """The readings with all their rows, made of those that are stored, and those that have to be read as a whole."""
    rewritten: list[tuple[Reading, pa.Table]] = []
    anew: list[Reading] = []
    for reading in readings:
        with failed.alone(reading.name):
            stored = stored_history(lakehouse.lake, reading.name)
            found = read_over_stored(reading.git_dir, reading.name, reading.head, stored)
            if isinstance(found, NotComparable):
                report("sources", reading.name, f"the history is read as a whole: {found.reason}")
                anew.append(reading)
            else:
                rewritten.append((reading, found))
    return rewritten, anew
