"""Where symbols stand in the documents of imported SCIP indexes."""

from lakehouse_assets.contracts.scip_documents import SCIP_PATH
from lakehouse_assets.contracts.table import REPO, Column, TableContract

RANGE = (
    Column(name="start_line", type="int", description="First line, from 0 as in SCIP."),
    Column(name="start_col", type="int", description="First column, from 0, in the document's encoding."),
    Column(name="end_line", type="int", description="Last line, from 0."),
    Column(name="end_col", type="int", description="Column behind its end."),
)

NUMBER = Column(name="n", type="int", description="0, and counted up where one document has the same key again.")

SCIP_OCCURRENCES = TableContract(
    name="scip_occurrences",
    description="One row per place where a symbol stands in a document.",
    columns=(
        REPO,
        SCIP_PATH,
        *RANGE,
        Column(name="symbol", type="string", description="The symbol in SCIP's grammar; empty for highlighting only."),
        NUMBER,
        Column(
            name="roles",
            type="int",
            description="Bits: 1 definition, 2 import, 4 write, 8 read, 16 generated, 32 test, 64 forward definition.",
        ),
        Column(name="syntax_kind", type="int", description="SCIP's number for the highlighting; 0 if not told."),
        Column(
            name="documentation", type="array<string>", description="Documentation for this place only; mostly empty."
        ),
        Column(
            name="enclosing_range",
            type="string",
            nullable=True,
            description="Range of the syntax around it as `start_line:start_col-end_line:end_col`; NULL if not told.",
        ),
    ),
    key=("repo", "path", "start_line", "start_col", "end_line", "end_col", "symbol", "n"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("enclosing_range",),
)
