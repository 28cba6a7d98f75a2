"""The assets `definitions`, `nodes`, `edges` and `props`: the facts and links of files, placed in their repository."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dagster import AssetExecutionContext, AssetsDefinition, Output, asset

from lakehouse_assets.assets.derivations import derived
from lakehouse_assets.assets.options import table_asset
from lakehouse_assets.assets.run import RepositoryRun
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.graph_work import payload_work
from lakehouse_assets.lake.making import made
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.source_files import Selection
from lakehouse_assets.recipes.extractors import extractors
from lakehouse_assets.recipes.graph import PLACED_RECIPES, PlacedRecipe

if TYPE_CHECKING:
    from lakehouse_assets.lake.making import Rows


def _placed(recipe: PlacedRecipe) -> AssetsDefinition:
    """The asset whose rows are made of each file's payload and of what the recipe asks of its links."""

    @asset(**table_asset(recipe))
    def placed(
        context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource
    ) -> Iterator[Output[Batches]]:
        run = RepositoryRun(context, lakehouse, spark)

        def make(selection: Selection) -> "Rows":
            work = payload_work(run.lake, run.session, selection, extractors(), recipe.work, engine=run.engine.engine)
            return made(recipe.contract, work, recipe.place)

        yield from run.handed_over(derived(run, recipe, make))

    return placed  # pyright: ignore[reportReturnType]  # its options come as a dictionary


PLACED = [_placed(recipe) for recipe in PLACED_RECIPES]
