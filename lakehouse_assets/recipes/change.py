"""What the last update of each repository changed, and when definitions and relationships came and went."""

from lakehouse_assets.change.diff_steps import DIFFS_ROWS, FILE_CHANGES_ROWS
from lakehouse_assets.change.lifetimes import definition_lifetimes_sql, edge_lifetimes_sql
from lakehouse_assets.change.moves import moves
from lakehouse_assets.change.renames import renames
from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.definition_lifetimes import DEFINITION_LIFETIMES
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.contracts.edge_lifetimes import EDGE_LIFETIMES
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.recipes.recipe import Recipe

FILE_CHANGES_RECIPE = Recipe(
    contract=FILE_CHANGES,
    group="change",
    inputs=(SNAPSHOTS,),
    also=(BLOBS,),  # the texts of files that may have been renamed
    at=(COMMITS,),
    functions=(renames,),
    steps=(FILE_CHANGES_ROWS,),
    of_updates=True,
    local="duckdb",
)
DIFFS_RECIPE = Recipe(
    contract=DIFFS,
    group="change",
    inputs=(FILE_CHANGES,),
    also=(EXTRACTS, BLOBS),  # the texts of contents that the present extractor has not read
    functions=(moves,),
    steps=(DIFFS_ROWS,),
    reads_facts=True,
    owner_columns=(),
    of_updates=True,
    local="duckdb",
)
LIFETIMES_RECIPES = (
    Recipe(
        contract=DEFINITION_LIFETIMES,
        group="change",
        made_with="lifetimes",
        inputs=(DEFINITIONS,),
        past=(GRAPH_VERSIONS,),  # the commit before this one
        functions=(definition_lifetimes_sql,),
        of_updates=True,
        local="duckdb",
    ),
    Recipe(
        contract=EDGE_LIFETIMES,
        group="change",
        made_with="lifetimes",
        inputs=(LINKS,),
        past=(GRAPH_VERSIONS,),
        functions=(edge_lifetimes_sql,),
        of_updates=True,
        local="duckdb",
    ),
)
