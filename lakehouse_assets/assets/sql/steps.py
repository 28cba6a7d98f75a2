"""The seven steps as ops: each makes one call, and shows what came of it."""

from typing import Any

import dagster as dg

from lakehouse_assets.contracts.ingest import Delivery, Ingest, SqlProject
from lakehouse_assets.core.text import fenced
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.plan.ingest_plan import IngestPlan
from lakehouse_assets.sources.sql import delivery as out
from lakehouse_assets.sources.sql import ingest as into
from lakehouse_assets.sources.sql.delivered import delivered_table
from lakehouse_assets.sources.sql.inspection import Inspection
from lakehouse_assets.sources.sql.inspection import inspect as inspect_source
from lakehouse_assets.sources.sql.whole_way import upsert_service


def ingest_steps(project: SqlProject, ingest: Ingest) -> tuple[dg.OpDefinition, dg.OpDefinition, dg.OpDefinition]:
    @dg.op(name=f"inspect_{ingest.name}", description="Ask the source for its columns, clock and transactions.")
    @explained()
    def inspect(context: dg.OpExecutionContext, lakehouse: LakehouseResource) -> Inspection:
        seen = inspect_source(lakehouse.lake, project, ingest)
        context.add_output_metadata({"clock": seen.facts.now.isoformat(), "columns": list(seen.contract.column_names)})
        return seen

    @dg.op(
        name=f"decide_{ingest.name}",
        description="First run or window, its bounds, its query.",
        config_schema={"force_first_run": dg.Field(bool, default_value=False)},
    )
    @explained()
    def decide(context: dg.OpExecutionContext, seen: Inspection) -> IngestPlan:
        plan = into.decide(ingest, seen, force_first_run=context.op_config["force_first_run"])
        context.log.info(str(plan))
        context.add_output_metadata({"plan": dg.MetadataValue.md(fenced(str(plan)))})
        return plan

    @dg.op(name=f"land_{ingest.name}", description="Bring rows and mark into the lake in one commit.")
    @explained()
    def land(
        context: dg.OpExecutionContext, lakehouse: LakehouseResource, seen: Inspection, plan: IngestPlan
    ) -> into.Landing:
        service = upsert_service(lakehouse.settings)
        done = into.land(lakehouse.lake, service, project, ingest, seen, plan, run_id=context.run_id)
        counts: dict[str, Any] = {name: done.count(f"rows_{name}") for name in ("inserted", "updated", "deleted")}
        counts |= {"read": done.rows_read, "late": done.rows_late, "gaps": [str(gap) for gap in done.gaps]}
        counts |= {"version": done.writes[-1].version_after} if done.writes else {}
        context.add_output_metadata({**counts, "mark": str(done.mark)})
        return done

    return inspect, decide, land


def deliver_steps(
    project: SqlProject, delivery: Delivery
) -> tuple[dg.OpDefinition, dg.OpDefinition, dg.OpDefinition, dg.OpDefinition]:
    suffix = "_".join([delivery.connection, *delivery.table.split(".")])

    @dg.op(
        name=f"stage_{suffix}",
        description="Load what changed into a staging table.",
        ins={"table": dg.In(dg.Nothing)},
        config_schema={"everything": dg.Field(bool, default_value=False)},
    )
    @explained()
    def stage(context: dg.OpExecutionContext, lakehouse: LakehouseResource) -> out.StagedDelivery:
        lake = lakehouse.lake
        table = delivered_table(lake, project, delivery)
        everything = context.op_config["everything"]
        staged = out.stage(lake, project, delivery, table, run_id=context.run_id, everything=everything)
        context.add_output_metadata(
            {
                "table": staged.contract.name,
                "version": staged.version,
                "way": staged.way,
                "reason": staged.reason,
                "rows": staged.sent.total,
                "rows_gone": staged.gone,
            }
        )
        return staged

    @dg.op(name=f"merge_{suffix}", description="Make the target equal and move its position, in one transaction.")
    @explained()
    def merge(context: dg.OpExecutionContext, staged: out.StagedDelivery) -> out.MergedDelivery:
        done = out.merge(project, delivery, staged, run_id=context.run_id)
        counts = done.counts
        context.add_output_metadata(
            {
                "inserted": counts.inserted,
                "updated": counts.updated,
                "deleted": counts.deleted,
                "unchanged": done.unchanged,
            }
        )
        return done

    @dg.op(name=f"reconcile_{suffix}", description="Compare number of rows, and rows and hash by range.")
    @explained()
    def reconcile(
        context: dg.OpExecutionContext, lakehouse: LakehouseResource, merged: out.MergedDelivery
    ) -> out.Reconciliation:
        done = out.reconcile(project, delivery, merged, lakehouse.lake)
        context.add_output_metadata({"target_rows": done.target_rows, "rows_compared": done.compared})
        return done

    @dg.op(name=f"record_{suffix}", description="Remove the staging table and keep the account.")
    @explained()
    def record(
        context: dg.OpExecutionContext, lakehouse: LakehouseResource, done: out.Reconciliation
    ) -> dict[str, Any]:
        row = out.record(lakehouse.lake, project, delivery, done, run_id=context.run_id)
        context.add_output_metadata({name: value for name, value in row.items() if isinstance(value, int | str)})
        return row

    return stage, merge, reconcile, record
