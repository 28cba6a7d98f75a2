"""Which contents a repository was linked with, file by file."""

from lakehouse_assets.contracts.table import PATH, REPO, Column, TableContract

LINK_FILES = TableContract(
    name="link_files",
    description="One row per file that was linked: with which content.",
    columns=(
        REPO,
        PATH,
        Column(name="blob_sha", type="string", description="Content that it was linked with."),
        Column(name="summary", type="bigint", description="Hash of what linking reads of that content."),
    ),
    key=("repo", "path"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
)
