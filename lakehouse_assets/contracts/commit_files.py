"""Which files each commit touched: what churn is counted from."""

from lakehouse_assets.contracts.table import MONTH, REPO, Column, TableContract

COMMIT_FILES = TableContract(
    name="commit_files",
    description="One row per file that a commit on the first-parent line of a head changed.",
    columns=(
        MONTH,
        REPO,
        Column(name="commit_sha", type="string", description="The commit; a merge for all that it brought in."),
        Column(name="path", type="string", description="The file, as `snapshots` writes paths."),
        Column(name="is_deleted", type="boolean", description="Whether the commit deleted it."),
        Column(name="committed_at", type="timestamp", description="Commit time; one that is no date has no month."),
    ),
    key=("month", "repo", "commit_sha", "path"),
    partition_by=("month",),
    strategy="upsert",
)
