"""What indexers complained of, as imported SCIP indexes tell it."""

from lakehouse_assets.contracts.scip_documents import SCIP_PATH
from lakehouse_assets.contracts.scip_occurrences import NUMBER, RANGE
from lakehouse_assets.contracts.table import REPO, Column, TableContract

SCIP_DIAGNOSTICS = TableContract(
    name="scip_diagnostics",
    description="One row per error, warning or hint that an index has for a place in a document.",
    columns=(
        REPO,
        SCIP_PATH,
        *RANGE,
        NUMBER,
        Column(name="severity", type="string", description="error, warning, information or hint; empty if not told."),
        Column(name="code", type="string", description="The tool's code for it; empty if not told."),
        Column(name="message", type="string", description="What is wrong."),
        Column(name="source", type="string", description="Who says so; empty if not told."),
        Column(name="tags", type="array<string>", description="unnecessary or deprecated, if so."),
    ),
    key=("repo", "path", "start_line", "start_col", "end_line", "end_col", "n"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("message",),
)
