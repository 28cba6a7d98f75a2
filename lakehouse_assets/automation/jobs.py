"""The job that brings repositories up to their heads."""

from dagster import AssetSelection, define_asset_job, in_process_executor

SYNC_JOB = define_asset_job(
    name="sync",
    description="Bring repositories up to their heads.",
    selection=AssetSelection.groups("git", "graph", "change"),
    # One process: its steps share one Spark session, which costs more to start than they take.
    executor_def=in_process_executor,
)
