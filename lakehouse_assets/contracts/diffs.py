"""What the last update of each repository changed, definition by definition."""

from lakehouse_assets.contracts.table import PATH, REPO, Column, TableContract

DIFFS = TableContract(
    name="diffs",
    description="One row per definition that the last update with changes changed; comments and layout don't count.",
    columns=(
        REPO,
        PATH,
        Column(name="symbol", type="string", description="Its symbol; of a removed one the symbol it had."),
        Column(name="def_id", type="bigint", description="Hash of the symbol: what nodes and edges refer to."),
        Column(
            name="change",
            type="string",
            one_of=("added", "removed", "signature_changed", "body_changed", "moved"),
            description="What became of it. moved: it is as it was, in another place, definition or file.",
        ),
        Column(name="kind", type="string", description="What it is: module, class, function and the like."),
        Column(name="name", type="string", description="Its own name."),
        Column(name="body_differs", type="boolean", description="Whether what it does has changed as well."),
        Column(name="line", type="int", nullable=True, description="First line now; NULL for a removed one."),
        Column(name="signature", type="string", nullable=True, description="Signature now."),
        Column(name="old_path", type="string", nullable=True, description="File it was in; NULL for a new one."),
        Column(name="old_symbol", type="string", nullable=True, description="Symbol it had; NULL for a new one."),
        Column(name="old_def_id", type="bigint", nullable=True, description="Hash of that symbol."),
        Column(name="old_line", type="int", nullable=True, description="First line before."),
        Column(name="old_signature", type="string", nullable=True, description="Signature before."),
        Column(name="from_commit", type="string", description="Commit before the update."),
        Column(name="to_commit", type="string", description="Commit that the update brought the repository to."),
    ),
    key=("repo", "path", "symbol"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("signature", "old_signature"),
)
