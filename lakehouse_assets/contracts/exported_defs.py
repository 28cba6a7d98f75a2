"""What each file offers to those who import it, through `__all__`, re-exports and stars."""

from lakehouse_assets.contracts.table import PATH, REPO, Column, TableContract

TARGET = (
    Column(name="target_repo", type="string", nullable=True, description="Repository that it leads to; NULL: none."),
    Column(name="target_path", type="string", nullable=True, description="File that it leads to."),
    Column(name="target_def", type="bigint", nullable=True, description="Definition; NULL for a plain variable."),
)
"""Where a name leads."""

EXPORTED_DEFS = TableContract(
    name="exported_defs",
    description="One row per name that others can import from a file, with the definition it stands for.",
    columns=(
        REPO,
        PATH,
        Column(name="name", type="string", description="Name as importers write it."),
        Column(
            name="kind",
            type="string",
            one_of=("definition", "variable", "module", "external", "unresolved"),
            description="What it stands for.",
        ),
        *TARGET,
        Column(name="via", type="string", description="own, re-export or star."),
        Column(name="is_public", type="boolean", description="Whether a star import takes it."),
    ),
    key=("repo", "path", "name"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
)
