"""The asset `extracts`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.derivations import derived
from lakehouse_assets.assets.engine import engine_for_repositories
from lakehouse_assets.assets.git.blobs import blobs
from lakehouse_assets.assets.graph.derivation_list import derivation, extractors
from lakehouse_assets.assets.graph.options import graph_asset
from lakehouse_assets.assets.handing_over import handed_over
from lakehouse_assets.assets.partitions import repositories_of
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.extract.rows import extract_rows
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.making import made
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.source_files import (
    Selection,
    missing_extracts,
    source_files,
    texts_here,
    texts_on_spark,
)

if TYPE_CHECKING:
    from lakehouse_assets.lake.making import Rows


@asset(**graph_asset(EXTRACTS), deps=[blobs])
def extracts(
    context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource
) -> Iterator[Output[Batches]]:
    """One row per content, language and version of the extractor: the local facts of the content."""
    lake, repositories = lakehouse.lake, repositories_of(context)
    engine = engine_for_repositories(context, lakehouse, repositories)

    def make(selection: Selection) -> "Rows":
        missing = missing_extracts(lake, source_files(lake, selection, extractors()))
        work = (
            texts_here(lake, missing)
            if engine.engine == "local"
            else texts_on_spark(spark.spark_session, lake, missing)
        )
        return made(EXTRACTS, work, extract_rows)

    made_rows = derived(lakehouse, derivation(EXTRACTS), repositories, make, engine)
    yield from handed_over(made_rows, of=len(context.partition_keys))
