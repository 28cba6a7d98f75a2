"""What imported SCIP indexes say about symbols."""

from lakehouse_assets.contracts.scip_documents import SCIP_PATH
from lakehouse_assets.contracts.scip_occurrences import NUMBER
from lakehouse_assets.contracts.table import REPO, Column, TableContract

SCIP_SYMBOLS = TableContract(
    name="scip_symbols",
    description="One row per symbol that a document defines, and per symbol from outside that the index tells of.",
    columns=(
        REPO,
        SCIP_PATH,
        Column(name="symbol", type="string", description="The symbol in SCIP's grammar."),
        NUMBER,
        Column(name="kind", type="string", description="Kind as SCIP names it; empty if not told."),
        Column(name="display_name", type="string", description="Name to show; empty if not told."),
        Column(name="documentation", type="array<string>", description="Documentation in Markdown."),
        Column(name="signature", type="string", nullable=True, description="Signature as written; NULL if not told."),
        Column(name="enclosing_symbol", type="string", description="Symbol around a local one; empty if not told."),
        Column(name="implements", type="array<string>", description="Symbols that it implements or overrides."),
        Column(name="referenced_with", type="array<string>", description="Symbols whose references count as its own."),
        Column(name="type_definitions", type="array<string>", description="Symbols that define its type."),
        Column(name="defined_by", type="array<string>", description="Symbols whose definition is its own."),
    ),
    key=("repo", "path", "symbol", "n"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
    without_statistics=("signature", "enclosing_symbol"),
)
