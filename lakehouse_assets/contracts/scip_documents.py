"""The documents of imported SCIP indexes; a row has a fingerprint while all other rows of its document are there."""

from lakehouse_assets.contracts.table import REPO, Column, TableContract

SCIP_PATH = Column(
    name="path",
    type="string",
    description="Path from the root; `<indexer>` for symbols that the index tells of but no document of it defines.",
)

SCIP_DOCUMENTS = TableContract(
    name="scip_documents",
    description="One row per document of an imported SCIP index.",
    columns=(
        REPO,
        SCIP_PATH,
        Column(name="indexer", type="string", description="Tool that wrote the index, by its own name."),
        Column(name="indexer_version", type="string", description="Version of that tool; empty if not told."),
        Column(name="language", type="string", description="Language as the index names it; empty if not told."),
        Column(
            name="position_encoding",
            type="string",
            description="What columns count: utf-8, utf-16 or utf-32 units; empty if not told.",
        ),
        Column(
            name="fingerprint",
            type="string",
            description="Hash of all that the index says, free of order; empty while its rows are being replaced.",
        ),
        Column(name="occurrences", type="int", description="Rows in `scip_occurrences`."),
        Column(name="symbols", type="int", description="Rows in `scip_symbols`."),
        Column(name="diagnostics", type="int", description="Rows in `scip_diagnostics`."),
        Column(name="text", type="string", nullable=True, description="The document's text, if the index has it."),
    ),
    key=("repo", "path"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("text", "fingerprint"),
)
