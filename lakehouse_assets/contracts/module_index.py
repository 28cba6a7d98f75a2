"""Which module is which file."""

from lakehouse_assets.contracts.table import PATH, REPO, Column, TableContract

MODULE_INDEX = TableContract(
    name="module_index",
    description="One row per module name that a file answers to.",
    columns=(
        REPO,
        PATH,
        Column(name="module", type="string", description="Dotted name."),
        Column(name="root", type="string", description="Folder that the name is counted from; empty: the top."),
        Column(name="is_package", type="boolean", description="Whether it can hold other modules."),
        Column(name="is_own", type="boolean", description="Whether the file is called by it; one name of each file."),
    ),
    key=("repo", "path", "module"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
)
