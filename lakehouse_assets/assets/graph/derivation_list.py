"""From what each table of the graph follows, and by which code."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from lakehouse_assets.change.diff_steps import DIFFS_ROWS, FILE_CHANGES_ROWS
from lakehouse_assets.change.lifetimes import definition_lifetimes_sql, edge_lifetimes_sql
from lakehouse_assets.change.moves import moves
from lakehouse_assets.change.renames import renames
from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.definition_lifetimes import DEFINITION_LIFETIMES
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.contracts.edge_lifetimes import EDGE_LIFETIMES
from lakehouse_assets.contracts.edges import EDGES
from lakehouse_assets.contracts.exported_defs import EXPORTED_DEFS
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
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
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.extract.extractor import LANGUAGES, extractor_version
from lakehouse_assets.extract.rows import extract_rows
from lakehouse_assets.lake.graph_work import LINKED_EDGES, OUTSIDE
from lakehouse_assets.lake.neighbours import NEIGHBOURS
from lakehouse_assets.link.global_props import global_props_sql
from lakehouse_assets.link.offers import offered_modules
from lakehouse_assets.link.placing import place_definitions, place_edges, place_nodes, place_props
from lakehouse_assets.link.repository import link_repository
from lakehouse_assets.plan.code_version import code_version
from lakehouse_assets.plan.derivation import Derivation
from lakehouse_assets.plan.relational_step import RelationalStep
from lakehouse_assets.plan.step_analysis import analysis_of


@dataclass(frozen=True, kw_only=True)
class _Step:
    """How a table is made: from which inputs, by which functions, and which of their columns name its owners.

    `reads_facts`: whether the rows come from what the extractors found, so that their versions count.
    """

    contract: TableContract
    inputs: tuple[TableContract, ...]
    neighbours: bool = False
    """Whether other repositories count as well."""
    functions: tuple[Callable[..., Any], ...]
    steps: tuple[RelationalStep, ...] = ()
    """The queries whose rows the functions get."""
    owner_columns: tuple[str, ...] = ("path",)
    reads_facts: bool = True
    of_updates: bool = False
    """Whether the rows tell how the repository came to its head, so that a clean build has others."""
    after: tuple[TableContract, ...] = (BLOBS, EXTRACTS)
    """What else has to be of the same commit: the contents, and what was found in them."""


LINKED = (MODULE_INDEX, EXPORTED_DEFS, IMPORTS_RESOLVED, LINKS, LINK_FILES, LINK_STATE, NEIGHBOUR_READS)
"""What linking makes in one go."""

_STEPS: Mapping[str, _Step] = {
    step.contract.name: step
    for step in (
        _Step(contract=EXTRACTS, inputs=(SNAPSHOTS,), functions=(extract_rows,), after=(BLOBS,)),
        _Step(
            contract=FILE_CHANGES,
            inputs=(SNAPSHOTS,),
            functions=(renames,),
            steps=(FILE_CHANGES_ROWS,),
            reads_facts=False,
            of_updates=True,
            after=(BLOBS,),
        ),
        _Step(
            contract=DIFFS,
            inputs=(FILE_CHANGES,),
            functions=(moves,),
            steps=(DIFFS_ROWS,),
            owner_columns=(),
            of_updates=True,
        ),
        _Step(contract=OFFERED_MODULES, inputs=(SNAPSHOTS,), functions=(offered_modules,), reads_facts=False, after=()),
        *(
            _Step(
                contract=contract,
                inputs=(SNAPSHOTS,),
                neighbours=True,
                functions=(link_repository,),
                after=(BLOBS, EXTRACTS, OFFERED_MODULES),
            )
            for contract in LINKED
        ),
        _Step(contract=DEFINITIONS, inputs=(SNAPSHOTS, MODULE_INDEX), functions=(place_definitions,)),
        _Step(contract=NODES, inputs=(SNAPSHOTS, LINKS), functions=(place_nodes,), steps=(OUTSIDE,)),
        _Step(contract=EDGES, inputs=(SNAPSHOTS, LINKS), functions=(place_edges,), steps=(LINKED_EDGES,)),
        _Step(contract=PROPS, inputs=(SNAPSHOTS,), functions=(place_props,)),
        _Step(
            contract=GLOBAL_PROPS,
            inputs=(LINKS,),
            functions=(global_props_sql,),
            owner_columns=("path", "dst_path"),
            reads_facts=False,
        ),
        _Step(
            contract=DEFINITION_LIFETIMES,
            inputs=(DEFINITIONS,),
            functions=(definition_lifetimes_sql,),
            reads_facts=False,
            of_updates=True,
        ),
        _Step(
            contract=EDGE_LIFETIMES,
            inputs=(LINKS,),
            functions=(edge_lifetimes_sql,),
            reads_facts=False,
            of_updates=True,
        ),
        _Step(
            contract=GRAPH_VERSIONS,
            inputs=PUBLISHED,
            functions=(),
            owner_columns=(),
            reads_facts=False,
            of_updates=True,
        ),
    )
}
"""In the order of the data's way."""


GRAPH_TABLES: tuple[TableContract, ...] = tuple(step.contract for step in _STEPS.values())

READ_BY_OTHERS = (COMMITS, SNAPSHOTS, BLOBS, EXTRACTS, OFFERED_MODULES)
"""What linking reads of other repositories, with what that is made from."""

HEAD_TABLES: tuple[TableContract, ...] = (
    COMMITS,
    SNAPSHOTS,
    *(step.contract for step in _STEPS.values() if step.contract.partition_by and not step.of_updates),
    DEFINITION_LIFETIMES,
    EDGE_LIFETIMES,
)
"""Tables that tell of repositories at their heads: equal to those of a clean build, however a repository got there.

Of lives these are the open ones (`lake/comparison.py`)."""


@cache
def extractors() -> Mapping[str, str]:
    """The version of each language's extractor."""
    return {language: extractor_version(language) for language in sorted(LANGUAGES)}


@cache
def derivation(contract: TableContract) -> Derivation:
    step = _STEPS[contract.name]
    facts = json_text(dict(extractors())) if step.reads_facts else ""
    meanings = [analysis_of(each).fingerprint for each in step.steps]
    return Derivation(
        asset=contract.name,
        inputs=(*(each.name for each in step.inputs), *([NEIGHBOURS] if step.neighbours else [])),
        code_version=code_version(*step.functions, parameters=[contract.version, facts, *meanings]),
        policy_hash=contract.policy_hash,
        owner_columns=step.owner_columns,
        after=tuple(each.name for each in step.after),
    )


def derivations() -> list[Derivation]:
    """All of them, in the order of the data's way."""
    return [derivation(step.contract) for step in _STEPS.values()]


def derived_inputs(name: str) -> tuple[str, ...]:
    """The inputs of an asset that follows from others; none of one that is read from git."""
    return derivation(CATALOG[name]).inputs if name in _STEPS else ()


def tables_of(derivations: Iterable[Derivation]) -> list[TableContract]:
    """The tables of the derivations, of their inputs, of what they come after, and of the inputs of these."""
    near = dict.fromkeys(name for each in derivations for name in (each.asset, *each.inputs, *each.after))
    names = dict.fromkeys((*near, *(further for name in near for further in derived_inputs(name))))
    return [CATALOG[name] for name in names if name != NEIGHBOURS]
