"""The asset `extracts`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.derivations import derived
from lakehouse_assets.assets.options import table_asset
from lakehouse_assets.assets.run import RepositoryRun
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.extract.rows import extract_rows
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.making import made
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.source_files import Selection, missing_extracts, source_files, texts_here, texts_on_spark
from lakehouse_assets.recipes.extractors import extractors
from lakehouse_assets.recipes.graph import EXTRACTS_RECIPE

if TYPE_CHECKING:
    from lakehouse_assets.lake.making import Rows


@asset(**table_asset(EXTRACTS_RECIPE))
def extracts(
    context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource
) -> Iterator[Output[Batches]]:
    """One row per content, language and version of the extractor: the local facts of the content."""
    run = RepositoryRun(context, lakehouse, spark)

    def make(selection: Selection) -> "Rows":
        missing = missing_extracts(run.lake, source_files(run.lake, selection, extractors()))
        here = run.engine.engine == "local"
        work = texts_here(run.lake, missing) if here else texts_on_spark(run.session(), run.lake, missing)
        return made(EXTRACTS, work, extract_rows)

    yield from run.handed_over(derived(run, EXTRACTS_RECIPE, make))
