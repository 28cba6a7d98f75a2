"""Properties that nodes have by their own file."""

from lakehouse_assets.contracts.table import PATH, REPO, Column, TableContract

PROPERTY = (
    Column(name="name", type="string", description="Which property."),
    Column(name="value", type="string", description="Its value, as text."),
)

PROPS = TableContract(
    name="props",
    description="One row per property that a node has by its own file.",
    columns=(
        REPO,
        PATH,
        Column(name="def_id", type="bigint", description="Definition of the node."),
        Column(name="n", type="int", description="Number of the node in it."),
        *PROPERTY,
    ),
    key=("repo", "path", "def_id", "n", "name"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("value",),
)
