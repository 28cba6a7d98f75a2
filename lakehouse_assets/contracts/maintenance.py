"""What was done to keep tables small and quick: the artifact that answers for what is gone."""

from lakehouse_assets.contracts.table import Column, TableContract

MAINTENANCE = TableContract(
    name="maintenance",
    description="One row per table that was compacted, vacuumed or cleared of what nobody refers to.",
    columns=(
        Column(name="asset", type="string", description="Table that it was done to."),
        Column(
            name="action",
            type="string",
            one_of=("optimize", "vacuum", "gc"),
            description="optimize: files written together; vacuum: files removed from disk; gc: rows deleted.",
        ),
        Column(name="version", type="bigint", description="Delta version of the table after it."),
        Column(name="files_before", type="bigint", description="Files: of the table for optimize, else on disk."),
        Column(name="files_after", type="bigint", description="Files after it."),
        Column(name="rows_deleted", type="bigint", description="Rows deleted; by gc only."),
        Column(name="bytes_freed", type="bigint", description="Bytes removed from disk; by vacuum only."),
        Column(name="log_entries", type="bigint", description="Log entries removed; by vacuum only."),
        Column(name="held", type="string", description="Files that stayed by who holds them, as JSON; for vacuum."),
        Column(name="seconds", type="double", description="How long it took."),
        Column(name="done_at", type="timestamp", description="When it was done."),
    ),
    key=("asset", "action", "done_at"),
    strategy="append_new",
    without_statistics=("held",),
)
