"""The asset `diffs`."""

from collections.abc import Iterator, Sequence

from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.change.options import change_asset
from lakehouse_assets.assets.derivations import work_of
from lakehouse_assets.assets.engine import steps_of_run
from lakehouse_assets.assets.graph.derivation_list import derivation, extractors
from lakehouse_assets.assets.handing_over import handed_over
from lakehouse_assets.assets.partitions import repositories_of
from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.changed_definitions import Definitions, changed_definitions
from lakehouse_assets.lake.changed_definitions import diffs as diff_rows
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource


@asset(**change_asset(DIFFS), deps=["file_changes", "extracts"])
def diffs(
    context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource
) -> Iterator[Output[Batches]]:
    """One row per definition that the last update with changes changed; comments and layout don't count."""
    failed = FailedPartitions()
    repositories = repositories_of(context)
    work, untouched = work_of(lakehouse, derivation(DIFFS), repositories, failed)
    found: dict[str, Definitions] = {}
    for each in work:
        with failed.alone(each.key.partition):
            found[each.key.partition] = changed_definitions(lakehouse.lake, each.key.partition, extractors())
    keys = {each.key.partition: each.key for each in work}
    with steps_of_run(context, lakehouse, spark, repositories) as (engine, _):

        def compared(names: Sequence[str]) -> Batch:
            rows = diff_rows(engine, [found[name] for name in names])
            return Batch(rows=rows, keys=tuple(keys[name] for name in names), part=compared)

        batches = tuple(failed.in_parts(list(found), compared))
        made = Batches(batches=batches, untouched=untouched, failed=failed)
        yield from handed_over(made, of=len(context.partition_keys))
