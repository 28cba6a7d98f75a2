"""Which files import from what the last update of each repository changed."""

from lakehouse_assets.contracts.impacted import CHANGED, CHANGED_REPO, DISTANCE, IMPACTED_PATH, IMPACTED_REPO, VIA
from lakehouse_assets.contracts.table import Column, TableContract

IMPACTED_IMPORTERS = TableContract(
    name="impacted_importers",
    description="One row per file that imports from a changed one, also by others.",
    columns=(
        CHANGED_REPO,
        IMPACTED_REPO,
        IMPACTED_PATH,
        DISTANCE,
        Column(
            name="reason",
            type="string",
            one_of=("imports_definition", "imports_file", "imports_importer", "imports_module"),
            description="What it imports. imports_file: another name of a file whose own code changed.",
        ),
        VIA,
        CHANGED,
    ),
    key=("repo", "impacted_repo", "impacted_path"),
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("via_symbol", "changed_symbol"),
)
