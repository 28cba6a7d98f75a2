"""What linking a repository read of the others."""

from lakehouse_assets.contracts.table import REPO, Column, TableContract

NEIGHBOUR_READS = TableContract(
    name="neighbour_reads",
    description="One row per module that a repository looks for in others, found or not, and per repository it read.",
    columns=(
        REPO,
        Column(
            name="kind",
            type="string",
            one_of=("module", "repository"),
            description="module: who offers it was asked; repository: facts of its files were read.",
        ),
        Column(name="name", type="string", description="First part of the module's dotted name, or the repository."),
        Column(
            name="version",
            type="string",
            description="The repositories that offered the module, by comma; or the content of the repository.",
        ),
    ),
    key=("repo", "kind", "name"),
    owner="name",
    partition_by=("repo",),
    strategy="upsert",
)
