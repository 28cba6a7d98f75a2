"""The asset `global_props`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.derivations import derived
from lakehouse_assets.assets.engine import steps_of_run
from lakehouse_assets.assets.graph.derivation_list import derivation
from lakehouse_assets.assets.graph.options import graph_asset
from lakehouse_assets.assets.handing_over import handed_over
from lakehouse_assets.assets.partitions import repositories_of
from lakehouse_assets.contracts.global_props import GLOBAL_PROPS
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.source_files import Selection
from lakehouse_assets.link.global_props import global_props_sql

if TYPE_CHECKING:
    from lakehouse_assets.lake.making import Rows


@asset(**graph_asset(GLOBAL_PROPS), deps=["links"])
def global_props(
    context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource
) -> Iterator[Output[Batches]]:
    """One row per property that a definition has by the whole graph: callers, importers, overriders."""

    repositories = repositories_of(context)
    with steps_of_run(context, lakehouse, spark, repositories) as (engine, choice):

        def make(selection: Selection) -> "Rows":
            links = engine.table(lakehouse.lake, LINKS, selection.repos)
            return engine.rows(GLOBAL_PROPS, global_props_sql(links, selection.paths))

        made = derived(lakehouse, derivation(GLOBAL_PROPS), repositories, make, choice)
        yield from handed_over(made, of=len(context.partition_keys))
