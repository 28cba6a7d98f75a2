"""The assets `definitions`, `nodes`, `edges` and `props`: the facts and links of files, placed in their repository."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dagster import AssetExecutionContext, AssetsDefinition, Output, asset

from lakehouse_assets.assets.derivations import derived
from lakehouse_assets.assets.engine import engine_for_repositories
from lakehouse_assets.assets.graph.derivation_list import derivation, extractors
from lakehouse_assets.assets.graph.options import graph_asset
from lakehouse_assets.assets.handing_over import handed_over
from lakehouse_assets.assets.partitions import repositories_of
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.edges import EDGES
from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.contracts.props import PROPS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.graph_work import LINKED_EDGES, OUTSIDE, payload_work
from lakehouse_assets.lake.making import Function, made
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.source_files import Selection
from lakehouse_assets.link.placing import place_definitions, place_edges, place_nodes, place_props
from lakehouse_assets.plan.relational_step import RelationalStep

if TYPE_CHECKING:
    from lakehouse_assets.lake.making import Rows


def _placed(
    contract: TableContract, place: Function, *, after: list[str], links: RelationalStep | None = None
) -> AssetsDefinition:
    """The asset whose rows `place` makes of each file's payload and of what `links` asks of its links."""

    @asset(**graph_asset(contract), deps=after)
    def placed(
        context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource
    ) -> Iterator[Output[Batches]]:
        repositories = repositories_of(context)
        engine = engine_for_repositories(context, lakehouse, repositories)

        def make(selection: Selection) -> "Rows":
            work = payload_work(
                lakehouse.lake,
                lambda: spark.spark_session,
                selection,
                extractors(),
                engine=engine.engine,
                links=links,
            )
            return made(contract, work, place)

        rows = derived(lakehouse, derivation(contract), repositories, make, engine)
        yield from handed_over(rows, of=len(context.partition_keys))

    return placed  # pyright: ignore[reportReturnType]  # its options come as a dictionary


definitions = _placed(DEFINITIONS, place_definitions, after=["extracts", "module_index"])
nodes = _placed(NODES, place_nodes, after=["extracts", "links"], links=OUTSIDE)
edges = _placed(EDGES, place_edges, after=["extracts", "links"], links=LINKED_EDGES)
props = _placed(PROPS, place_props, after=["extracts"])
