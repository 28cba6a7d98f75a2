"""When each definition came and went."""

from lakehouse_assets.contracts.table import PATH, REPO, Column, TableContract

LIFE = (
    Column(
        name="life",
        type="int",
        description="Which of its lives, from 1: what is gone and comes back begins a new one.",
    ),
)
SPAN = (
    Column(name="first_commit", type="string", description="First commit that it was seen in."),
    Column(
        name="after_commit",
        type="string",
        nullable=True,
        description="Commit that was read before that one; NULL if it was there when reading began.",
    ),
    Column(
        name="last_commit",
        type="string",
        nullable=True,
        description="Last commit that it was seen in; NULL while it is there.",
    ),
    Column(
        name="removed_in",
        type="string",
        nullable=True,
        description="First commit that it was missed in; NULL while it is there.",
    ),
)
"""How long something was there, in commits that the repository was read at: what came and went between two of them
was never seen, and what a commit between them brought is told of the later one."""

DEFINITION_LIFETIMES = TableContract(
    name="definition_lifetimes",
    description="One row per life of a definition, from the commit that it was first seen in to the last.",
    columns=(
        REPO,
        PATH,
        Column(name="def_id", type="bigint", description="Hash of the symbol."),
        *LIFE,
        Column(name="symbol", type="string", description="Stable name: path and descriptors."),
        Column(name="kind", type="string", description="What it is: module, class, function or what its language has."),
        Column(name="qualified_name", type="string", description="Dotted name from the module's root."),
        *SPAN,
    ),
    key=("repo", "path", "def_id", "life"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("symbol", "qualified_name", "first_commit", "after_commit", "last_commit", "removed_in"),
)
