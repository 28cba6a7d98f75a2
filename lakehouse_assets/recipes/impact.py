"""Who the last update of each repository touched, in every repository."""

from lakehouse_assets.change.impact import find_impact
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS
from lakehouse_assets.contracts.impacted_callers import IMPACTED_CALLERS
from lakehouse_assets.contracts.impacted_files import IMPACTED_FILES
from lakehouse_assets.contracts.impacted_importers import IMPACTED_IMPORTERS
from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.recipes.recipe import Recipe

IMPACT_RECIPES = tuple(
    Recipe(
        contract=contract,
        group="impact",
        made_with="impact",
        inputs=(DIFFS, LINKS, IMPORTS_RESOLVED),
        also=(FILE_CHANGES, DEFINITIONS, GRAPH_VERSIONS),  # as they were published
        functions=(find_impact,),
        owner_columns=(),
        of_updates=True,
        local="duckdb",
    )
    for contract in (IMPACTED_CALLERS, IMPACTED_IMPORTERS, IMPACTED_FILES)
)
