"""All recipes in the order of the data's way, and what is asked of them together."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.definition_lifetimes import DEFINITION_LIFETIMES
from lakehouse_assets.contracts.edge_lifetimes import EDGE_LIFETIMES
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.offered_modules import OFFERED_MODULES
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.neighbours import NEIGHBOURS
from lakehouse_assets.plan.derivation import Derivation
from lakehouse_assets.recipes.activity import ACTIVITY_RECIPES
from lakehouse_assets.recipes.change import DIFFS_RECIPE, FILE_CHANGES_RECIPE, LIFETIMES_RECIPES
from lakehouse_assets.recipes.git import GIT_RECIPES
from lakehouse_assets.recipes.graph import (
    EXTRACTS_RECIPE,
    GLOBAL_PROPS_RECIPE,
    GRAPH_VERSIONS_RECIPE,
    LINKING_RECIPES,
    OFFERED_MODULES_RECIPE,
    PLACED_RECIPES,
)
from lakehouse_assets.recipes.impact import IMPACT_RECIPES
from lakehouse_assets.recipes.recipe import Group, Recipe

_DERIVED = (
    EXTRACTS_RECIPE,
    FILE_CHANGES_RECIPE,
    DIFFS_RECIPE,
    OFFERED_MODULES_RECIPE,
    *LINKING_RECIPES,
    *PLACED_RECIPES,
    GLOBAL_PROPS_RECIPE,
    *LIFETIMES_RECIPES,
    GRAPH_VERSIONS_RECIPE,
)
"""What a sync makes of what it has read from git."""

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {each.name: each for each in (*GIT_RECIPES, *_DERIVED, *IMPACT_RECIPES, *ACTIVITY_RECIPES)}
)

SYNC_GROUPS: tuple[Group, ...] = ("git", "graph", "change")
"""What a sync makes; the others are made when somebody asks for them."""

GRAPH_TABLES: tuple[TableContract, ...] = tuple(each.contract for each in _DERIVED)

READ_BY_OTHERS = (COMMITS, SNAPSHOTS, BLOBS, EXTRACTS, OFFERED_MODULES)
"""What linking reads of other repositories, with what that is made from."""

HEAD_TABLES: tuple[TableContract, ...] = (
    COMMITS,
    SNAPSHOTS,
    *(each.contract for each in _DERIVED if each.contract.partition_by and not each.of_updates),
    DEFINITION_LIFETIMES,
    EDGE_LIFETIMES,
)
"""Tables that tell of repositories at their heads: equal to those of a clean build, however a repository got there.

Of lives these are the open ones (`lake/comparison.py`)."""


def derivations() -> list[Derivation]:
    """Those of a sync."""
    return [each.derivation for each in _DERIVED]


def derived_inputs(name: str) -> tuple[str, ...]:
    """The inputs of an asset that follows from others; none of one that is read from git."""
    return RECIPES[name].input_names


def tables_of(derivations: Iterable[Derivation]) -> list[TableContract]:
    """The tables of the derivations, and all that they follow from."""
    found: dict[str, None] = {}
    waiting = [each.asset for each in derivations]
    for name in waiting:
        if name not in found and name != NEIGHBOURS:
            found[name] = None
            waiting += [*derived_inputs(name), *(each.name for each in RECIPES[name].also)]
    return [CATALOG[name] for name in found]
