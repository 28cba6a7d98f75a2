"""Which modules a repository offers to the others."""

from lakehouse_assets.contracts.table import PATH, REPO, Column, TableContract

OFFERED_MODULES = TableContract(
    name="offered_modules",
    description="One row per top-level module that other repositories can import from a repository.",
    columns=(
        REPO,
        Column(name="module", type="string", description="First part of the module's dotted name."),
        PATH,
    ),
    key=("repo", "module"),
    owner="module",
    partition_by=("repo",),
    strategy="upsert",
)
