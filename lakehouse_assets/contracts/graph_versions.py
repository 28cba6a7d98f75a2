"""Which Delta versions of the graph's tables tell of which commit: what a consistent read starts from."""

from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.definition_lifetimes import DEFINITION_LIFETIMES
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.contracts.edge_lifetimes import EDGE_LIFETIMES
from lakehouse_assets.contracts.edges import EDGES
from lakehouse_assets.contracts.exported_defs import EXPORTED_DEFS
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.global_props import GLOBAL_PROPS
from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.module_index import MODULE_INDEX
from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.contracts.props import PROPS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.contracts.table import REPO, Column, TableContract

GRAPH_VERSIONS = TableContract(
    name="graph_versions",
    description="One row per repository and commit that the graph was brought to; written last.",
    columns=(
        REPO,
        Column(name="commit_sha", type="string", description="Commit that the graph tells of."),
        Column(name="tables", type="string", description="Delta version of each table by name, as JSON."),
        Column(name="published_at", type="timestamp", description="When the graph was last brought to it."),
    ),
    key=("repo", "commit_sha"),
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("tables",),
)

PUBLISHED: tuple[TableContract, ...] = (
    *(COMMITS, SNAPSHOTS, FILE_CHANGES, DIFFS, MODULE_INDEX, EXPORTED_DEFS, IMPORTS_RESOLVED, LINKS),
    *(DEFINITIONS, NODES, EDGES, PROPS, GLOBAL_PROPS, DEFINITION_LIFETIMES, EDGE_LIFETIMES),
)
"""The tables that a publication names. All are partitioned by repository."""
