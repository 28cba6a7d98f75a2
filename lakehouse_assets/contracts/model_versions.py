"""Every version of every model that was ever applied: what it said, and what it meant."""

from lakehouse_assets.contracts.table import Column, TableContract

MODEL_VERSIONS = TableContract(
    name="model_versions",
    description="One row per version of a model, and per change of its metadata.",
    columns=(
        Column(name="model", type="string", description="Name of the model."),
        Column(name="version", type="string", description="Fingerprint of all that decides its rows."),
        Column(name="metadata", type="string", description="Fingerprint of what it says beside that."),
        Column(name="table_name", type="string", description="Table that holds the version; empty for a view."),
        Column(name="text", type="string", description="Its file as it was written."),
        Column(name="sql", type="string", description="Its query, with every name qualified."),
        Column(name="parts", type="string", description="What decides its rows and each of its columns, as JSON."),
        Column(name="applied_at", type="timestamp", description="When it was first applied."),
    ),
    key=("model", "version", "metadata"),
    strategy="append_new",
    without_statistics=("text", "sql", "parts"),
)
