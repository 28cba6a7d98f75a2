"""The asset `diffs`."""

from collections.abc import Iterator, Sequence

from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.derivations import work_of
from lakehouse_assets.assets.options import table_asset
from lakehouse_assets.assets.run import RepositoryRun
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.changed_definitions import Definitions, changed_definitions
from lakehouse_assets.lake.changed_definitions import diffs as diff_rows
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.recipes.change import DIFFS_RECIPE
from lakehouse_assets.recipes.extractors import extractors


@asset(**table_asset(DIFFS_RECIPE))
def diffs(
    context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource
) -> Iterator[Output[Batches]]:
    """One row per definition that the last update with changes changed; comments and layout don't count."""
    failed = FailedPartitions()
    run = RepositoryRun(context, lakehouse, spark)
    work, untouched = work_of(lakehouse, DIFFS_RECIPE.derivation, run.names, failed, makes=run.makes)
    found: dict[str, Definitions] = {}
    for each in work:
        with failed.alone(each.key.partition):
            found[each.key.partition] = changed_definitions(run.lake, each.key.partition, extractors())
    keys = {each.key.partition: each.key for each in work}
    with run.steps() as engine:

        def compared(names: Sequence[str]) -> Batch:
            rows = diff_rows(engine, [found[name] for name in names])
            return Batch(rows=rows, keys=tuple(keys[name] for name in names), part=compared)

        batches = tuple(failed.in_parts(list(found), compared))
        made = Batches(batches=batches, untouched=untouched, failed=failed)
        yield from run.handed_over(made)
