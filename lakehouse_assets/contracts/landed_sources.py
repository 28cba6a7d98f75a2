"""Which files and pages have been landed, so that none is landed twice."""

from lakehouse_assets.contracts.table import Column, TableContract

LANDED_SOURCES = TableContract(
    name="landed_sources",
    description="One row per file or page that was landed or set aside.",
    columns=(
        Column(name="table_name", type="string", description="Table that its rows are in."),
        Column(name="source", type="string", description="Path of the file, or address of the page."),
        Column(name="content", type="string", description="Fingerprint of its content and of how it is read."),
        Column(
            name="status", type="string", one_of=("landed", "bad"), description="Whether its rows are in the table."
        ),
        Column(name="problem", type="string", nullable=True, description="Why it was set aside."),
        Column(name="row_count", type="bigint", description="Rows that it gave."),
        Column(name="next_page", type="string", nullable=True, description="Address of the page after it, if it says."),
        Column(name="landed_at", type="timestamp", description="When it was landed or set aside."),
    ),
    key=("table_name", "source"),
    owner="source",
    strategy="upsert",
    without_statistics=("problem",),
)
