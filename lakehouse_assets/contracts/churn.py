"""How often each file was changed, month by month."""

from lakehouse_assets.contracts.table import MONTH, REPO, Column, TableContract

CHURN = TableContract(
    name="churn",
    description="One row per file and month in which commits on the first-parent line of the head changed it.",
    columns=(
        MONTH,
        REPO,
        Column(name="path", type="string", description="The file, as `snapshots` writes paths."),
        Column(name="commits", type="bigint", description="Commits that changed it."),
        Column(name="deletions", type="bigint", description="Those of them that deleted it."),
        Column(name="first_changed_at", type="timestamp", description="Commit time of the first."),
        Column(name="last_changed_at", type="timestamp", description="Commit time of the last."),
    ),
    key=("month", "repo", "path"),
    partition_by=("month",),
    strategy="upsert",
)
