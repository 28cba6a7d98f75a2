"""SQL models as assets: one run applies an environment's plan to the models that were chosen.

One step makes them all, in their order: they are written one by one by the IO manager, and the environment moves at the
end, to all of them or to none. A model that is as it should be is left out of the run. Audits are its checks.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagster import (
    AssetCheckKey,
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetExecutionContext,
    AssetKey,
    AssetsDefinition,
    AssetSpec,
    Config,
    Failure,
    MaterializeResult,
    MetadataValue,
    TableColumn,
    TableColumnDep,
    TableColumnLineage,
    TableSchema,
    multi_asset,
)
from dagster._core.definitions.utils import is_valid_owner
from pydantic import Field

from lakehouse_assets.assets.column_lineage import lineage_page
from lakehouse_assets.assets.following import FOLLOWS
from lakehouse_assets.assets.run import engine_of
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.core.text import fenced
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.io_metadata import rows_table, table_schema
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.models.files import ModelFile, look_at

if TYPE_CHECKING:
    from lakehouse_assets.lake.model_apply import Application
    from lakehouse_assets.lake.model_audits import AuditResult
    from lakehouse_assets.lake.model_building import Made

GROUP = "models"


class Applying(Config):
    """Which environment a run is for."""

    environment: str = Field(default="prod", description="Environment to apply the models in; made if it is not there.")


def model_assets(folder: Path, variables: Mapping[str, str] | None = None) -> list[AssetsDefinition]:
    """The models of a folder as the assets of one step; none if there are none.

    Only what the picture needs is read here: what a model means is found out by the run, with file and line if it is
    wrong. Files that are no models at all are told and left out, so that they don't keep the graph from being synced.
    """
    try:
        models = look_at(folder, variables)
    except LakehouseError as error:
        report("models", str(folder), f"the models are left out: {error}", level="warning")
        return []
    if not models:
        return []

    @multi_asset(
        name=GROUP,
        specs=[_spec(model) for model in models],
        check_specs=[
            AssetCheckSpec(audit.label, asset=model.header.name, description=audit.query)
            for model in models
            for audit in model.header.audits
        ],
        can_subset=True,
    )
    def applied(
        context: AssetExecutionContext, config: Applying, lakehouse: LakehouseResource, spark: SparkResource
    ) -> Iterator[MaterializeResult | AssetCheckResult]:
        from lakehouse_assets.lake.environment_holds import building

        names = sorted(key.path[-1] for key in context.selected_asset_keys)
        with explained():
            application = _application(context, lakehouse, spark, config.environment, folder, names)
        told = 0
        with building(lakehouse.lake):
            for made in application.made():
                yield from _checks(context, application.audits[told:])
                told = len(application.audits)
                yield _result(made, application)
            yield from _checks(context, application.audits[told:])
            with explained():
                done = application.finish()
        if done.failed:
            said = "\n".join(f"{name}: {text}" for name, text in sorted(done.failed.items()))
            raise Failure(description=f"{done.environment} stays as it was. {said}", allow_retries=False)

    return [applied]


def _application(
    context: AssetExecutionContext,
    lakehouse: LakehouseResource,
    spark: SparkResource,
    name: str,
    folder: Path,
    models: Sequence[str],
) -> "Application":
    from lakehouse_assets.lake.environment_changes import create_environment
    from lakehouse_assets.lake.environments import Environments
    from lakehouse_assets.lake.known_tables import known_tables
    from lakehouse_assets.lake.model_apply import Application
    from lakehouse_assets.lake.model_building import Workshop
    from lakehouse_assets.lake.model_engine import extent_of
    from lakehouse_assets.lake.model_plans import Request, plan_for
    from lakehouse_assets.models.environment import Environment

    lake = lakehouse.lake
    if name not in Environments(lake).all():
        create_environment(lake, Environment(name=name, description="Made by a run."))
    plan = plan_for(
        lake,
        folder,
        Request(environment=name, selection=tuple(models)),
        variables=lakehouse.settings.variables,
    )
    workshop = Workshop(
        lake=lake,
        tables=known_tables(lake),
        spark=lambda: spark.spark_session,
        choice=engine_of(context, lakehouse, lambda: extent_of(plan)),
    )
    return Application(workshop=workshop, plan=plan, execution_id=context.run.run_id)


def _spec(model: ModelFile) -> AssetSpec:
    header = model.header
    columns = [
        TableColumn(name=name, type=column.type or "", description=column.description)
        for name, column in header.columns.items()
    ]
    metadata: dict[str, Any] = {"owner": header.owner} if header.owner else {}
    metadata |= {"dagster/column_schema": TableSchema(columns=columns)} if columns else {}
    spec = AssetSpec(
        header.name,
        deps=model.inputs,
        description=header.description.strip() or None,
        group_name=GROUP,
        kinds={"sql", "deltalake"},
        # Dagster takes addresses and teams; any other name is shown among the metadata.
        owners=[header.owner] if is_valid_owner(header.owner) else [],
        code_version=model.sql_version,
        tags={"materialization": header.materialization, **{f"tag/{tag}": "" for tag in header.tags}},
        metadata=metadata,
        automation_condition=FOLLOWS,
        skippable=True,
    )
    return spec.with_io_manager_key("delta")


def _result(made: "Made", application: "Application") -> MaterializeResult:
    return MaterializeResult(asset_key=made.meaning.name, value=made.batches, metadata=told_of_model(made, application))


def told_of_model(made: "Made", application: "Application") -> dict[str, Any]:
    """What a materialization of a model says of it."""
    from lakehouse_assets.lake.model_inputs import needed
    from lakehouse_assets.models.explain import said_change
    from lakehouse_assets.models.model import DIALECT
    from lakehouse_assets.plan.sql_lineage import analyze

    meaning = made.meaning
    builder = application.builder
    relations = needed(builder.relations, meaning.inputs, builder.workshop.tables)
    tables = {name: each.types for name, each in relations.items() if name in meaning.inputs}
    lineage = analyze(meaning.sql, tables, dialect=DIALECT, subject=f"model {meaning.name}").lineage
    by_column = {
        column: [TableColumnDep(asset_key=AssetKey(source.relation), column_name=source.column) for source in sources]
        for column, sources in lineage.items()
    }
    return {
        "environment": application.plan.environment.name,
        "version": meaning.data,
        "table": made.contract.name,
        "change": said_change(made.step.change),
        "reason": made.step.reason,
        "engine": f"{made.engine}: {made.engine_reason}",
        "query": MetadataValue.md(fenced(meaning.sql, "sql")),  # `sql` is that of the write
        "dagster/column_schema": table_schema(made.contract),
        "dagster/column_lineage": TableColumnLineage(deps_by_column=by_column),
        "column_lineage": MetadataValue.md(lineage_page(lineage)),
    }


def _checks(context: AssetExecutionContext, results: "Sequence[AuditResult]") -> Iterator[AssetCheckResult]:
    for each in results:
        if AssetCheckKey(AssetKey(each.model), each.audit) in context.selected_asset_check_keys:
            yield AssetCheckResult(
                asset_key=each.model,
                check_name=each.audit,
                passed=each.passed,
                severity=AssetCheckSeverity.ERROR,
                metadata=told_of_audit(each),
            )


def told_of_audit(result: "AuditResult") -> dict[str, Any]:
    return {"rows": result.rows} | ({"failing_rows": rows_table(result.examples)} if result.examples else {})
