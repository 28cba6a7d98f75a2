"""The code property graph: local facts of contents, their links, and the rows of files at the head."""

from dataclasses import dataclass

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.edges import EDGES
from lakehouse_assets.contracts.exported_defs import EXPORTED_DEFS
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.global_props import GLOBAL_PROPS
from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS, PUBLISHED
from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.contracts.link_files import LINK_FILES
from lakehouse_assets.contracts.link_state import LINK_STATE
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.module_index import MODULE_INDEX
from lakehouse_assets.contracts.neighbour_reads import NEIGHBOUR_READS
from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.contracts.offered_modules import OFFERED_MODULES
from lakehouse_assets.contracts.props import PROPS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.extract.rows import extract_rows
from lakehouse_assets.lake.graph_work import LINKED_EDGES, OUTSIDE, PayloadWork
from lakehouse_assets.lake.making import Function
from lakehouse_assets.link.global_props import global_props_sql
from lakehouse_assets.link.offers import offered_modules
from lakehouse_assets.link.placing import place_definitions, place_edges, place_nodes, place_props
from lakehouse_assets.link.repository import link_repository
from lakehouse_assets.recipes.recipe import Recipe

EXTRACTS_RECIPE = Recipe(
    contract=EXTRACTS,
    group="graph",
    inputs=(SNAPSHOTS,),
    also=(BLOBS,),
    functions=(extract_rows,),
    reads_facts=True,
    sampled=True,
    local="python",
)
OFFERED_MODULES_RECIPE = Recipe(
    contract=OFFERED_MODULES,
    group="graph",
    inputs=(SNAPSHOTS,),
    functions=(offered_modules,),
    local="python",
    on_spark=False,  # a few rows of each repository's paths
)


def _linked(contract: TableContract, *, sampled: bool = False) -> Recipe:
    return Recipe(
        contract=contract,
        group="graph",
        made_with="linking",
        inputs=(SNAPSHOTS,),
        neighbours=True,
        also=(EXTRACTS, OFFERED_MODULES),
        functions=(link_repository,),
        reads_facts=True,
        sampled=sampled,
        local="python",
    )


LINKING_RECIPES = (
    _linked(MODULE_INDEX),
    _linked(EXPORTED_DEFS, sampled=True),
    _linked(IMPORTS_RESOLVED, sampled=True),
    _linked(LINKS, sampled=True),
    _linked(LINK_FILES),
    _linked(LINK_STATE),
    _linked(NEIGHBOUR_READS),
)
"""What linking makes in one go."""

LINKED: tuple[TableContract, ...] = tuple(each.contract for each in LINKING_RECIPES)


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedRecipe(Recipe):
    """A table whose rows one function makes of each file's payload, and of what else its work has."""

    place: Function
    work: PayloadWork


def _placed(contract: TableContract, place: Function, work: PayloadWork) -> PlacedRecipe:
    beside = ((MODULE_INDEX,) if work.modules else ()) + ((LINKS,) if work.links is not None else ())
    return PlacedRecipe(
        contract=contract,
        group="graph",
        inputs=(SNAPSHOTS, *beside),
        also=(EXTRACTS,),
        functions=(place,),
        steps=(work.links,) if work.links is not None else (),
        reads_facts=True,
        sampled=True,
        local="python",
        place=place,
        work=work,
    )


PLACED_RECIPES = (
    _placed(DEFINITIONS, place_definitions, PayloadWork(modules=True)),
    _placed(NODES, place_nodes, PayloadWork(links=OUTSIDE)),
    _placed(EDGES, place_edges, PayloadWork(links=LINKED_EDGES)),
    _placed(PROPS, place_props, PayloadWork()),
)
"""The facts and links of files, placed in their repository."""

GLOBAL_PROPS_RECIPE = Recipe(
    contract=GLOBAL_PROPS,
    group="graph",
    inputs=(LINKS,),
    functions=(global_props_sql,),
    owner_columns=("path", "dst_path"),
    local="duckdb",
)
GRAPH_VERSIONS_RECIPE = Recipe(
    contract=GRAPH_VERSIONS,
    group="graph",
    inputs=PUBLISHED,
    also=(BLOBS,),  # that the tables fit each other is looked at before
    owner_columns=(),
    tells_versions=True,
    of_updates=True,
    local="python",
    on_spark=False,  # a row for each repository
)
