"""How busy each repository was, month by month."""

from lakehouse_assets.contracts.table import MONTH, REPO, Column, TableContract

COMMIT_ACTIVITY = TableContract(
    name="commit_activity",
    description="One row per repository and month in which it has commits.",
    columns=(
        MONTH,
        REPO,
        Column(name="commits", type="bigint", description="Commits reachable from the head."),
        Column(name="line_commits", type="bigint", description="Those on the first-parent line of the head."),
        Column(name="merges", type="bigint", description="Those with more than one parent."),
        Column(name="authors", type="bigint", description="Different addresses of their authors."),
        Column(name="first_commit_at", type="timestamp", description="Commit time of the first."),
        Column(name="last_commit_at", type="timestamp", description="Commit time of the last."),
    ),
    key=("month", "repo"),
    partition_by=("month",),
    strategy="upsert",
)
