"""Which files each recent commit touched: what churn is counted from."""

from lakehouse_assets.contracts.table import REPO, Column, TableContract

COMMIT_FILES = TableContract(
    name="commit_files",
    description="One row per file that a commit of the last 2,000 on the first-parent line of the head changed.",
    columns=(
        REPO,
        Column(name="commit_sha", type="string", description="The commit; a merge for all that it brought in."),
        Column(name="path", type="string", description="The file, as `snapshots` writes paths."),
        Column(name="is_deleted", type="boolean", description="Whether the commit deleted it."),
        Column(
            name="committed_at",
            type="timestamp",
            nullable=True,
            description="Commit time; NULL if git's number is no date.",
        ),
    ),
    key=("repo", "commit_sha", "path"),
    partition_by=("repo",),
    strategy="upsert",
)
