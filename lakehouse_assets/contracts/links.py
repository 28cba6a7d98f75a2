"""What linking found for each file: where its imports, calls, bases and references lead."""

from lakehouse_assets.contracts.edges import EDGE_COLUMNS, EDGE_KEY
from lakehouse_assets.contracts.table import Column, TableContract

LINKS = TableContract(
    name="links",
    description="One row per relationship that linking resolved, in the form of `edges`, with the name it leads to.",
    columns=(
        *EDGE_COLUMNS,
        Column(
            name="external",
            type="string",
            nullable=True,
            description="Dotted name of what is outside all registered repositories; NULL for what is inside.",
        ),
    ),
    key=EDGE_KEY,
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("src_def", "src_n", "dst_path", "dst_n", "label", "method", "caller_def", "external"),
)
