"""What the last update of each repository changed, file by file."""

from lakehouse_assets.contracts.table import PATH, REPO, Column, TableContract

FILE_CHANGES = TableContract(
    name="file_changes",
    description="One row per file that the last update with changes changed.",
    columns=(
        REPO,
        PATH,
        Column(
            name="change",
            type="string",
            one_of=("added", "modified", "deleted", "renamed", "mode_changed"),
            description="What became of it. A renamed file may have changed as well: see similarity and the blobs.",
        ),
        Column(name="old_path", type="string", nullable=True, description="Where it was; NULL if it was not there."),
        Column(name="old_blob", type="string", nullable=True, description="Content it had; NULL for a new file."),
        Column(name="new_blob", type="string", nullable=True, description="Content it has; NULL for a deleted file."),
        Column(name="old_mode", type="string", nullable=True, description="File mode it had."),
        Column(name="new_mode", type="string", nullable=True, description="File mode it has."),
        Column(name="old_language", type="string", nullable=True, description="Language it was in; NULL if none."),
        Column(name="new_language", type="string", nullable=True, description="Language it is in; NULL if none."),
        Column(
            name="similarity",
            type="int",
            nullable=True,
            description="Of a renamed file, how many percent of the larger content both have; 100: the same content.",
        ),
        Column(
            name="from_commit",
            type="string",
            nullable=True,
            description="Commit before the update; NULL if the files before it are not known.",
        ),
        Column(name="to_commit", type="string", description="Commit that the update brought the repository to."),
    ),
    key=("repo", "path"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
)
