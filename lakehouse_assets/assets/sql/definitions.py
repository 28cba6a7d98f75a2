"""One asset for each table that is ingested or delivered, and one job for the whole way of each."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field

from lakehouse_assets.assets.sql.steps import deliver_steps, ingest_steps
from lakehouse_assets.assets.streams.definitions import stream_asset
from lakehouse_assets.contracts.files import FileIngest, HttpIngest
from lakehouse_assets.contracts.ingest import Delivery, Ingest, SqlProject
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.sources.sql.project import load_project
from lakehouse_assets.sources.sql.whole_way import land_table

GROUP = "sql"


def sql_definitions(project: SqlProject) -> dg.Definitions:
    """Assets and jobs of a project; of an empty one, none."""
    assets: list[dg.AssetsDefinition] = []
    jobs: list[Any] = []
    for ingest in project.ingest:
        made = ingest_asset(project, ingest)
        out = [delivery_asset(project, each) for each in project.deliveries_of(ingest.name)]
        assets += [made, *out]
        jobs.append(
            dg.define_asset_job(
                name=f"ingest_{ingest.name}",
                description=f"{ingest.name} from its source into the lake, and out to where it is delivered.",
                selection=dg.AssetSelection.assets(*(each.key for each in (made, *out))),
                executor_def=dg.in_process_executor,
            )
        )
    assets += [landed_asset(each) for each in (*project.files, *project.http)]
    names = {each.name for each in project.ingest}
    assets += [delivery_asset(project, each) for each in project.deliver if each.asset not in names]
    assets += [stream_asset(project, each) for each in project.streams]
    return dg.Definitions(assets=assets, jobs=jobs)


def ingest_asset(project: SqlProject, ingest: Ingest) -> dg.AssetsDefinition:
    """The table in the lake."""
    inspect, decide, land = ingest_steps(project, ingest)

    @dg.graph_asset(
        name=ingest.name,
        description=ingest.description or f"Rows of {ingest.table or 'a query'} in {ingest.connection}.",
        group_name=GROUP,
        kinds={"delta", project.connections[ingest.connection].kind},
        metadata={"strategy": ingest.strategy, "key": ", ".join(ingest.key)},
    )
    def made():
        seen = inspect()
        return land(seen, decide(seen))

    return made


def landed_asset(landed: FileIngest | HttpIngest) -> dg.AssetsDefinition:
    """The table of files or pages."""

    @dg.asset(
        name=landed.name,
        description=landed.description or "Rows of files or pages.",
        group_name=GROUP,
        kinds={"delta", "http" if isinstance(landed, HttpIngest) else "file"},
    )
    @explained()
    def made(context: dg.AssetExecutionContext, lakehouse: LakehouseResource) -> dg.MaterializeResult:
        done = land_table(lakehouse.settings, landed, run_id=context.run.run_id)
        for each in done.bad:
            context.log.warning(f"set aside: {each}")
        return dg.MaterializeResult(metadata={**asdict(done), "bad": list(done.bad)})

    return made


def delivery_asset(project: SqlProject, delivery: Delivery) -> dg.AssetsDefinition:
    """The table in the target, after the lake's."""
    stage, merge, reconcile, record = deliver_steps(project, delivery)

    @dg.graph_asset(
        key=dg.AssetKey([delivery.connection, *delivery.table.split(".")]),
        description=f"{delivery.asset} in {delivery.connection}, equal to the lake's.",
        group_name=GROUP,
        kinds={project.connections[delivery.connection].kind},
        ins={"table": dg.AssetIn(key=dg.AssetKey(delivery.asset), dagster_type=dg.Nothing)},
    )
    def made(table):
        return record(reconcile(merge(stage(table))))

    return made


class SqlTables(dg.Component, dg.Resolvable, dg.Model):
    """The component: the parts of a file of the ingest folder as its attributes, or the folder itself."""

    folder: str | None = None
    connections: Mapping[str, Any] = Field(default_factory=dict)
    ingest: Sequence[Mapping[str, Any]] = ()
    files: Sequence[Mapping[str, Any]] = ()
    http: Sequence[Mapping[str, Any]] = ()
    deliver: Sequence[Mapping[str, Any]] = ()
    streams: Sequence[Mapping[str, Any]] = ()

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        if self.folder is not None:
            project = load_project(load_settings(), Path(context.path) / self.folder)
        else:
            project = SqlProject.model_validate({name: getattr(self, name) for name in SqlProject.model_fields})
        return dg.Definitions.merge(
            sql_definitions(project), dg.Definitions(resources={"lakehouse": LakehouseResource()})
        )
