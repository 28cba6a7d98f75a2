"""Which Delta versions of the graph's tables tell of which commit: what a consistent read starts from."""

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
