"""What each asset partition was last made from: the answer to "is it fresh?" without Dagster or a JVM."""

from lakehouse_assets.contracts.table import Column, TableContract

MATERIALIZATIONS = TableContract(
    name="materializations",
    description="One row per asset and partition: the key of its last materialization.",
    columns=(
        Column(name="asset", type="string", description="Name of the asset."),
        Column(name="partition", type="string", description="Partition key: the repository."),
        Column(name="cursor", type="string", description="What was read up to: the commit."),
        Column(name="code_version", type="string", description="Fingerprint of the code that made it."),
        Column(name="settings_hash", type="string", description="Fingerprint of the repository's settings."),
        Column(name="policy_hash", type="string", description="Fingerprint of the contract's policies."),
        Column(name="input_versions", type="string", description="Data versions of its inputs by asset, as JSON."),
        Column(
            name="data_version",
            type="string",
            nullable=True,
            description="Content of the partition: rows, and the sum of their hashes; NULL if it has to be counted.",
        ),
        Column(name="table_version", type="bigint", description="Delta version of the asset's table that holds it."),
        Column(name="run_id", type="string", description="Dagster run that made it."),
        Column(name="materialized_at", type="timestamp", description="When it was made."),
        Column(
            name="touched",
            type="string",
            nullable=True,
            description="Versions of the table that changed the partition's rows since one of them, as JSON.",
        ),
    ),
    key=("asset", "partition"),
    strategy="append_new",
)
