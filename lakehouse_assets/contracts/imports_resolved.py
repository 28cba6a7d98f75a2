"""Where each import lands."""

from lakehouse_assets.contracts.exported_defs import TARGET
from lakehouse_assets.contracts.table import PATH, REPO, Column, TableContract

IMPORTS_RESOLVED = TableContract(
    name="imports_resolved",
    description="One row per imported name: where it lands.",
    columns=(
        REPO,
        PATH,
        Column(name="def_id", type="bigint", description="Definition that the import stands in."),
        Column(name="n", type="int", description="Number of the import's node in it."),
        Column(name="name", type="string", description="Name that is imported; * for all, empty for a module itself."),
        Column(name="module", type="string", description="Dotted name of the module, absolute."),
        Column(
            name="kind",
            type="string",
            one_of=("first_party", "other_repository", "ambiguous", "standard_library", "third_party", "unresolved"),
            description="Where it lands; ambiguous: several other repositories offer the module.",
        ),
        *TARGET,
    ),
    key=("repo", "path", "def_id", "n", "name"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
)
