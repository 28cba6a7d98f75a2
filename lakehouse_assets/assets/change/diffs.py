"""The asset `diffs`."""

from dagster import AssetExecutionContext, asset

from lakehouse_assets.assets.change.options import change_asset
from lakehouse_assets.assets.derivations import work_of
from lakehouse_assets.assets.graph.derivation_list import derivation, extractors
from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.changed_definitions import changed_definitions
from lakehouse_assets.lake.resources import LakehouseResource


@asset(**change_asset(DIFFS), deps=["file_changes", "extracts"])
def diffs(context: AssetExecutionContext, lakehouse: LakehouseResource) -> Batches:
    """One row per definition that the last update with changes changed; comments and layout don't count."""
    work, untouched = work_of(lakehouse, derivation(DIFFS), context.partition_keys)
    batches = [
        Batch(rows=changed_definitions(lakehouse.lake, each.key.partition, extractors()), keys=(each.key,))
        for each in work
    ]
    return Batches(batches=tuple(batches), untouched=untouched)
