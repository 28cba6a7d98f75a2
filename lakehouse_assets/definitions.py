"""The only place where the rooms are wired together."""

from dagster import Definitions, load_assets_from_modules

from lakehouse_assets.assets.activity import churn, commit_activity, commit_files
from lakehouse_assets.assets.artifacts import ARTIFACTS
from lakehouse_assets.assets.change import diffs, file_changes, impact, lifetimes
from lakehouse_assets.assets.git import blobs, commits, snapshots
from lakehouse_assets.assets.graph import extracts, global_props, graph_versions, linking, offered_modules
from lakehouse_assets.assets.graph.placed import PLACED
from lakehouse_assets.assets.models import model_assets
from lakehouse_assets.assets.publish import iceberg_tables
from lakehouse_assets.assets.scip import scip_indexes
from lakehouse_assets.assets.sql.definitions import sql_definitions
from lakehouse_assets.automation.activity import ACTIVITY_JOB, monthly_activity
from lakehouse_assets.automation.checks import contract_checks, head_checks, integrity_checks
from lakehouse_assets.automation.following import following
from lakehouse_assets.automation.heads import hourly_sync, new_heads, weekly_extraction
from lakehouse_assets.automation.jobs import APPLY_JOB, CHECK_JOB, EXECUTOR, SYNC_JOB, nightly_checks
from lakehouse_assets.automation.maintenance import MAINTENANCE_JOBS, MAINTENANCE_SCHEDULES
from lakehouse_assets.automation.verify_sample import VERIFY_SAMPLE_JOB, hourly_verify_sample, verify_sample
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.io_manager import DeltaIOManager
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.sources.sql.project import load_project

_lakehouse = LakehouseResource()
_spark = SparkResource()

_code_graph = Definitions(
    assets=[
        *load_assets_from_modules(
            [
                commits,
                snapshots,
                blobs,
                extracts,
                commit_files,
                commit_activity,
                churn,
                file_changes,
                diffs,
                impact,
                lifetimes,
                offered_modules,
                linking,
                global_props,
                graph_versions,
                scip_indexes,
                iceberg_tables,
            ]
        ),
        *PLACED,
        *ARTIFACTS,
    ],
    asset_checks=[contract_checks, integrity_checks, head_checks],
    jobs=[SYNC_JOB, CHECK_JOB, ACTIVITY_JOB],
    sensors=[new_heads, *following(["impact", "publish"])],
    schedules=[hourly_sync, nightly_checks, weekly_extraction, monthly_activity],
    resources={
        "lakehouse": _lakehouse,
        "spark": _spark,
        "delta": DeltaIOManager(lakehouse=_lakehouse, spark=_spark),
    },
    executor=EXECUTOR,
)

_models = model_assets(load_settings().models, load_settings().variables)

defs = Definitions.merge(
    _code_graph,
    Definitions(asset_checks=[verify_sample], jobs=[VERIFY_SAMPLE_JOB], schedules=[hourly_verify_sample]),
    sql_definitions(load_project(load_settings())),
    Definitions(jobs=MAINTENANCE_JOBS, schedules=MAINTENANCE_SCHEDULES),
    Definitions(assets=_models, jobs=[APPLY_JOB], sensors=following(["models"])) if _models else Definitions(),
)

# Dagster loads a module that has one set of definitions at its top.
del _code_graph
