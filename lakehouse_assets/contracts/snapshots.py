"""What the head of each repository holds."""

from lakehouse_assets.contracts.table import REPO, Column, TableContract

SNAPSHOTS = TableContract(
    name="snapshots",
    description="One row per file at the head commit.",
    columns=(
        REPO,
        Column(
            name="path",
            type="string",
            description='Path from the root. One that is not UTF-8, or begins with ", is quoted as git quotes it.',
        ),
        Column(name="blob_sha", type="string", description="Id of the content; of a submodule its commit."),
        Column(name="mode", type="string", description="File mode in octal, as git prints it."),
        Column(
            name="kind",
            type="string",
            one_of=("file", "executable", "symlink", "submodule"),
            description="What the mode means. Links are never followed, submodules never entered.",
        ),
        Column(name="size", type="bigint", nullable=True, description="Bytes of the content; NULL for a submodule."),
        Column(
            name="language",
            type="string",
            nullable=True,
            description="By extension, file name, shebang or content; NULL if none is known.",
        ),
        Column(name="is_generated", type="boolean", description="Written by a tool, by its name or its header."),
        Column(name="is_vendored", type="boolean", description="Third-party code kept in the tree."),
        Column(name="is_test", type="boolean", description="Test code, by the language's customs."),
    ),
    key=("repo", "path"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
)
