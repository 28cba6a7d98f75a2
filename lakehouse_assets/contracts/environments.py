"""Environments: which version of each table is meant, by name, one row for each change of an environment."""

from lakehouse_assets.contracts.table import Column, TableContract

ENVIRONMENTS = TableContract(
    name="environments",
    description="One row per revision of an environment; the highest is the one in force.",
    columns=(
        Column(name="environment", type="string", description="Its name."),
        Column(name="revision", type="int", description="Number of the change, from 1."),
        Column(name="base", type="string", nullable=True, description="Environment it was made from."),
        Column(name="description", type="string", description="What it is for."),
        Column(name="owner", type="string", description="Who answers for it."),
        Column(name="start_date", type="date", nullable=True, description="First day of time that is built in it."),
        Column(name="end_date", type="date", nullable=True, description="Day before which that ends."),
        Column(name="expires_at", type="timestamp", nullable=True, description="When it may be dropped."),
        Column(
            name="action",
            type="string",
            one_of=("create", "apply", "promote", "rollback", "drop"),
            description="What made this revision.",
        ),
        Column(name="execution", type="string", description="Execution that made it."),
        Column(name="changed_at", type="timestamp", description="When it was made."),
        Column(
            name="members",
            type="string",
            description="By name the version, the table that holds it and the version of that table, as JSON.",
        ),
    ),
    key=("environment", "revision"),
    strategy="append_new",
    without_statistics=("members", "description"),
)
