"""Which repositories the lake keeps, and how each is read."""

from lakehouse_assets.contracts.table import Column, TableContract

REPOSITORIES = TableContract(
    name="repositories",
    description="One row per registered repository.",
    columns=(
        Column(name="repo", type="string", description="Name: the partition key of every asset."),
        Column(name="location", type="string", description="Absolute path or git URL it is read from."),
        Column(
            name="kind",
            type="string",
            one_of=("local_git", "remote_git", "directory"),
            description="local_git is read in place, remote_git from a bare mirror, directory as one commit.",
        ),
        Column(name="ref", type="string", nullable=True, description="Branch, tag or commit to follow; NULL: HEAD."),
        Column(name="include", type="array<string>", description="Globs a path must match one of; empty: all paths."),
        Column(name="exclude", type="array<string>", description="Globs a path must not match."),
        Column(name="languages", type="array<string>", description="Languages to keep; empty: every file."),
        Column(name="added_at", type="timestamp", description="When it was registered."),
    ),
    key=("repo",),
    strategy="append_new",
)
