"""The asset `global_props`."""

from collections.abc import Iterator

import pyarrow as pa
from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.derivations import derived
from lakehouse_assets.assets.engine import engine_for_repositories
from lakehouse_assets.assets.graph.derivation_list import derivation
from lakehouse_assets.assets.graph.options import graph_asset
from lakehouse_assets.assets.handing_over import handed_over
from lakehouse_assets.assets.partitions import repositories_of
from lakehouse_assets.contracts.global_props import GLOBAL_PROPS
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.source_files import Selection
from lakehouse_assets.link.global_props import global_props_sql


@asset(**graph_asset(GLOBAL_PROPS), deps=["links"])
def global_props(context: AssetExecutionContext, lakehouse: LakehouseResource) -> Iterator[Output[Batches]]:
    """One row per property that a definition has by the whole graph: callers, importers, overriders."""

    repositories = repositories_of(context)
    engine = engine_for_repositories(context, lakehouse, repositories)

    def make(selection: Selection) -> pa.Table:
        query = global_props_sql(relation(lakehouse.lake, LINKS), selection.repos, selection.paths)
        with local_sql() as connection:
            return connection.sql(query).to_arrow_table()

    made = derived(lakehouse, derivation(GLOBAL_PROPS), repositories, make, engine)
    yield from handed_over(made, of=len(context.partition_keys))
