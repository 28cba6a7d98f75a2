"""What every delivery to a database did."""

from lakehouse_assets.contracts.table import Column, TableContract

DELIVERIES = TableContract(
    name="deliveries",
    description="One row per delivery of a table to a database.",
    columns=(
        Column(name="delivery", type="string", description="Table, connection and target table."),
        Column(name="run_id", type="string", description="Run that delivered."),
        Column(name="way", type="string", description="How changes were found: nothing, feed, comparison or full."),
        Column(name="reason", type="string", nullable=True, description="Why the feed did not do; empty if it did."),
        Column(
            name="table_name",
            type="string",
            nullable=True,
            description="Table of the lake that was sent: of a model, the one that holds the version.",
        ),
        Column(name="version", type="bigint", description="Delta version of it that the target is equal to."),
        Column(name="rows_inserted", type="bigint", description="Rows that the target had not."),
        Column(name="rows_updated", type="bigint", description="Rows that differed there."),
        Column(name="rows_deleted", type="bigint", description="Rows that are gone."),
        Column(name="rows_unchanged", type="bigint", description="Rows that were sent and were there as they are."),
        Column(name="rows_compared", type="bigint", description="Rows whose hashes were compared afterwards."),
        Column(name="target_rows", type="bigint", description="Rows of the target: as many as the lake has."),
        Column(name="delivered_at", type="timestamp", description="When the delivery ended."),
    ),
    key=("delivery", "run_id"),
    strategy="append_new",
)
