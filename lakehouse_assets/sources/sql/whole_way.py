"""The whole way of one table: source, lake, target. The steps one after the other, for who needs no Dagster."""

import sys
import uuid

from lakehouse_assets.contracts.files import FileIngest, HttpIngest
from lakehouse_assets.contracts.ingest import Delivery, Ingest, SqlProject
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.bookkeeping import bookkeeping
from lakehouse_assets.lake.run_engine import writer_for
from lakehouse_assets.lake.session import runtime_for
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.upsert import UpsertService
from lakehouse_assets.sources.files.landing import LandedReport, land_files, land_pages
from lakehouse_assets.sources.sql import delivery as out
from lakehouse_assets.sources.sql.delivered import delivered_table
from lakehouse_assets.sources.sql.ingest import Landing, decide, land
from lakehouse_assets.sources.sql.inspection import inspect


def upsert_service(settings: Settings) -> UpsertService:
    executor, because = writer_for(None, settings.engine)
    return UpsertService(
        Lake(settings.lake), spark=lambda: runtime_for(settings).session, executor=executor, because=because
    )


def ingest_table(
    settings: Settings, project: SqlProject, ingest: Ingest, *, run_id: str = "", force_first_run: bool = False
) -> Landing:
    """Inspect, decide, land."""
    lake = Lake(settings.lake)
    inspection = inspect(lake, project, ingest)
    plan = decide(ingest, inspection, force_first_run=force_first_run)
    run_id = run_id or uuid.uuid4().hex
    with bookkeeping(lake):
        return land(lake, upsert_service(settings), project, ingest, inspection, plan, run_id=run_id)


def land_table(settings: Settings, landed: FileIngest | HttpIngest, *, run_id: str = "") -> LandedReport:
    """Files and pages that are new or changed."""
    lake, service = Lake(settings.lake), upsert_service(settings)
    if settings.project is not None and str(settings.project) not in sys.path:
        sys.path.append(str(settings.project))  # a format of the project's own; last, so that it hides no package
    with bookkeeping(lake):
        if isinstance(landed, FileIngest):
            return land_files(lake, service, landed, run_id=run_id)
        return land_pages(lake, service, landed, run_id=run_id)


def deliver_table(
    settings: Settings, project: SqlProject, delivery: Delivery, *, run_id: str = "", everything: bool = False
) -> dict[str, object]:
    """Stage, merge, reconcile, record; what was done comes back as a row of `deliveries`."""
    lake, run_id = Lake(settings.lake), run_id or uuid.uuid4().hex
    table = delivered_table(lake, project, delivery)
    staged = out.stage(lake, project, delivery, table, run_id=run_id, everything=everything)
    merged = out.merge(project, delivery, staged, run_id=run_id)
    done = out.reconcile(project, delivery, merged, lake)
    return out.record(lake, project, delivery, done, run_id=run_id)
