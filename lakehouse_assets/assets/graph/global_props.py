"""The asset `global_props`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.derivations import derived
from lakehouse_assets.assets.options import table_asset
from lakehouse_assets.assets.run import RepositoryRun
from lakehouse_assets.contracts.global_props import GLOBAL_PROPS
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.source_files import Selection
from lakehouse_assets.link.global_props import global_props_sql
from lakehouse_assets.recipes.graph import GLOBAL_PROPS_RECIPE

if TYPE_CHECKING:
    from lakehouse_assets.lake.making import Rows


@asset(**table_asset(GLOBAL_PROPS_RECIPE))
def global_props(
    context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource
) -> Iterator[Output[Batches]]:
    """One row per property that a definition has by the whole graph: callers, importers, overriders."""
    run = RepositoryRun(context, lakehouse, spark)
    with run.steps() as engine:

        def make(selection: Selection) -> "Rows":
            links = engine.table(run.lake, LINKS, selection.repos)
            return engine.rows(GLOBAL_PROPS, global_props_sql(links, selection.paths))

        yield from run.handed_over(derived(run, GLOBAL_PROPS_RECIPE, make))
