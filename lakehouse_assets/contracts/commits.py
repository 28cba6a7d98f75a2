"""The history of each repository: commits are rows, not partitions."""

from lakehouse_assets.contracts.table import REPO, Column, TableContract

COMMITS = TableContract(
    name="commits",
    description="One row per commit reachable from the repository's ref.",
    columns=(
        REPO,
        Column(name="commit_sha", type="string", description="Commit id; for a plain directory its tree's hash."),
        Column(name="tree_sha", type="string", description="Id of the root tree."),
        Column(name="parents", type="array<string>", description="Parent commit ids, in order."),
        Column(
            name="first_parent_position",
            type="int",
            nullable=True,
            description="Position on the first-parent line of the head, the root being 0; NULL off that line.",
        ),
        Column(name="author_name", type="string", description="Author as recorded."),
        Column(name="author_email", type="string", description="Author's address as recorded."),
        Column(
            name="authored_at",
            type="timestamp",
            nullable=True,
            description="Author time; NULL if git's number is no date.",
        ),
        Column(name="committer_name", type="string", description="Committer as recorded."),
        Column(name="committer_email", type="string", description="Committer's address as recorded."),
        Column(
            name="committed_at",
            type="timestamp",
            nullable=True,
            description="Commit time; NULL if git's number is no date.",
        ),
        Column(
            name="subject",
            type="string",
            description="First paragraph of the message, on one line, or its first 10,000 characters and an ellipsis.",
        ),
    ),
    key=("repo", "commit_sha"),
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("parents", "subject"),
)
