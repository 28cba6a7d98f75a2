"""What was done to environments: which models ran, which did not, and what came of it."""

from lakehouse_assets.contracts.table import Column, TableContract

PIPELINE_EXECUTIONS = TableContract(
    name="pipeline_executions",
    description="One row per execution: an apply, a promotion or a rollback.",
    columns=(
        Column(name="execution", type="string", description="Its id."),
        Column(name="environment", type="string", description="Environment that it was for."),
        Column(name="action", type="string", description="What was to be done: apply, promote, rollback."),
        Column(
            name="status",
            type="string",
            one_of=("running", "succeeded", "failed", "refused"),
            description="How it ended; running also where it was killed.",
        ),
        Column(name="plan", type="string", description="Id of the plan that was carried out; empty if there was none."),
        Column(name="models_run", type="array<string>", description="Models that were built or refreshed."),
        Column(name="models_skipped", type="array<string>", description="Models that were left as they are."),
        Column(name="models_failed", type="array<string>", description="Models whose query, write or audit failed."),
        Column(name="errors", type="array<string>", description="What was wrong, one text per failure."),
        Column(name="metrics", type="string", description="Rows, seconds and engine by model, as JSON."),
        Column(name="started_at", type="timestamp", description="When it began."),
        Column(name="ended_at", type="timestamp", nullable=True, description="When it ended."),
    ),
    key=("execution",),
    strategy="upsert",
    without_statistics=("metrics",),
)
