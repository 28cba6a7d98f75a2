"""The asset `diffs`."""

from collections.abc import Iterator

from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.change.options import change_asset
from lakehouse_assets.assets.derivations import work_of
from lakehouse_assets.assets.graph.derivation_list import derivation, extractors
from lakehouse_assets.assets.handing_over import handed_over
from lakehouse_assets.assets.partitions import repositories_of
from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches, joined
from lakehouse_assets.lake.changed_definitions import changed_definitions
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.resources import LakehouseResource


@asset(**change_asset(DIFFS), deps=["file_changes", "extracts"])
def diffs(context: AssetExecutionContext, lakehouse: LakehouseResource) -> Iterator[Output[Batches]]:
    """One row per definition that the last update with changes changed; comments and layout don't count."""
    failed = FailedPartitions()
    work, untouched = work_of(lakehouse, derivation(DIFFS), repositories_of(context), failed)
    batches: list[Batch] = []
    for each in work:
        with failed.alone(each.key.partition):
            rows = changed_definitions(lakehouse.lake, each.key.partition, extractors())
            batches.append(Batch(rows=rows, keys=(each.key,)))
    made = Batches(batches=joined(batches), untouched=untouched, failed=failed)
    yield from handed_over(made, of=len(context.partition_keys))
