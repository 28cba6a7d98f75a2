"""What every write did: the artifact that answers for the tables."""

from lakehouse_assets.contracts.table import Column, TableContract

WRITES = TableContract(
    name="writes",
    description="One row per write to a table.",
    columns=(
        Column(name="write_key", type="string", description="Idempotency key: asset, run and partitions."),
        Column(name="asset", type="string", description="Asset whose table was written."),
        Column(name="run_id", type="string", description="Dagster run that wrote."),
        Column(name="partitions", type="array<string>", description="Partitions of the run."),
        Column(name="strategy", type="string", description="How the batch was to change the table."),
        Column(
            name="action",
            type="string",
            one_of=("nothing", "append", "replace", "merge", "delete", "replayed"),
            description="What that came to; replayed: the write had been committed before.",
        ),
        Column(
            name="executor",
            type="string",
            one_of=("delta-rs", "spark", "none"),
            description="Who wrote the commit; none: there was nothing to write.",
        ),
        Column(name="executor_reason", type="string", description="Why it was that one."),
        Column(
            name="engine", type="string", nullable=True, description="Engine and its version, as the commit names them."
        ),
        Column(
            name="statement",
            type="string",
            nullable=True,
            description="What ran: SQL by Spark, else the call of the engine; NULL where no row differed.",
        ),
        Column(
            name="owners",
            type="string",
            nullable=True,
            description="Files whose rows were made anew, each with the reason where it is known, as JSON: all of them "
            "up to 500, else the first; NULL where all rows of the partitions were made.",
        ),
        Column(name="owners_made", type="bigint", nullable=True, description="How many these files are."),
        Column(name="rows_inserted", type="bigint", description="Rows that were not there before."),
        Column(name="rows_updated", type="bigint", description="Rows whose content changed."),
        Column(name="rows_deleted", type="bigint", description="Rows that are gone."),
        Column(name="rows_unchanged", type="bigint", description="Rows of the batch that were there as they are."),
        Column(name="rows_quarantined", type="bigint", description="Rows set aside because they break the contract."),
        Column(name="files_added", type="bigint", description="Data files written; each is one chunk."),
        Column(name="files_removed", type="bigint", description="Data files no longer part of the table."),
        Column(name="bytes_added", type="bigint", description="Bytes of the files added."),
        Column(name="files_total", type="bigint", description="Files of the table before the write."),
        Column(name="files_touched", type="bigint", description="Files that the write could have touched."),
        Column(name="files_unbounded", type="bigint", description="Those touched for want of statistics."),
        Column(name="version_before", type="bigint", description="Delta version before the write."),
        Column(name="version_after", type="bigint", description="Delta version after it."),
        Column(name="seconds", type="string", description="Seconds by phase, as JSON."),
        Column(name="keys", type="string", description="Key of each partition's materialization, as JSON."),
        Column(name="written_at", type="timestamp", description="When the write ended."),
    ),
    key=("write_key", "written_at"),
    strategy="append_new",
    without_statistics=("seconds", "keys", "owners", "statement"),
)
