"""Which files the last update of each repository changed or may touch."""

from lakehouse_assets.contracts.impacted import CHANGED, CHANGED_REPO, DISTANCE, IMPACTED_PATH, IMPACTED_REPO, VIA
from lakehouse_assets.contracts.table import Column, TableContract

IMPACTED_FILES = TableContract(
    name="impacted_files",
    description="One row per file that an update changed or touched, by its shortest way.",
    columns=(
        CHANGED_REPO,
        IMPACTED_REPO,
        IMPACTED_PATH,
        DISTANCE,
        Column(name="reason", type="string", description="changed, or the reason of the importer or caller in it."),
        VIA,
        CHANGED,
    ),
    key=("repo", "impacted_repo", "impacted_path"),
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("via_symbol", "changed_symbol"),
)
