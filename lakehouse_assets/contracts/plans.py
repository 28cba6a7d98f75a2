"""The relational steps as they were: what each meant, and from which run on."""

from lakehouse_assets.contracts.table import Column, TableContract

PLANS = TableContract(
    name="plans",
    description="One row per relational step and run in which it meant something else than in the run before.",
    columns=(
        Column(name="step", type="string", description="Name of the step."),
        Column(name="run_id", type="string", description="Dagster run that it was first seen so in."),
        Column(name="since", type="timestamp", description="When that was."),
        Column(name="assets", type="array<string>", description="Tables that it helps to make; none: it answers."),
        Column(name="dialect", type="string", one_of=("duckdb", "spark"), description="What its SQL is written in."),
        Column(name="fingerprint", type="string", description="Fingerprint of its canonical SQL."),
        Column(name="sql", type="string", description="Its canonical SQL: one text for all spellings of a query."),
        Column(name="tree", type="string", description="The same as a syntax tree, in JSON that sqlglot loads."),
        Column(
            name="lineage",
            type="string",
            description="By column of the step the columns of tables that its value comes from, as JSON.",
        ),
    ),
    key=("step", "run_id"),
    strategy="append_new",
    without_statistics=("sql", "tree", "lineage"),
)
