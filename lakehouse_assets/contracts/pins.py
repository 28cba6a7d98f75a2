"""Commits whose graph is to stay readable for as long as somebody wants it."""

from lakehouse_assets.contracts.table import REPO, Column, TableContract

PINS = TableContract(
    name="pins",
    description="One row per published commit that is kept readable until it is unpinned.",
    columns=(
        REPO,
        Column(name="commit_sha", type="string", description="Commit whose graph is kept."),
        Column(name="why", type="string", description="What it is kept for, in the words of who pinned it."),
        Column(name="pinned_at", type="timestamp", description="When it was pinned."),
    ),
    key=("repo", "commit_sha"),
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("why",),
)
