"""`lakehouse plan`, `apply`, `promote` and `rollback`: what an environment shows, changed as a whole."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.cli.output import json_option, print_json, print_rows
from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.core.text import visible_lines

if TYPE_CHECKING:
    from lakehouse_assets.lake.executions import PipelineExecution
    from lakehouse_assets.lake.model_apply import Application
    from lakehouse_assets.models.planning import Plan


def _asked(command: Callable[..., Any]) -> Callable[..., Any]:
    """What is asked of an environment, the same for planning and applying."""
    for option in (
        click.option(
            "--restate",
            multiple=True,
            metavar="MODEL[:FROM..TO]",
            help="Build a model once more, into a table of its own; of a model by time, only these days.",
        ),
        click.option(
            "--select",
            multiple=True,
            metavar="WORD",
            help="Models to take: NAME, +NAME with what it reads, NAME+ with what reads it, tag:WORD. Default: all.",
        ),
        click.argument("environment"),
    ):
        command = option(command)
    return command


@click.command()
@_asked
@json_option
def plan(environment: str, select: tuple[str, ...], restate: tuple[str, ...], as_json: bool) -> None:
    """Tell what applying would do to ENVIRONMENT, and why: what will be built, what not. Nothing is run."""
    made = make(load_settings(), environment, select, restate)
    print_plan(made, as_json=as_json)


@click.command()
@_asked
@click.option("--plan", "expected", metavar="ID", help="Refuse if this is no longer the plan.")
@json_option
@click.pass_context
def apply(
    ctx: click.Context,
    environment: str,
    select: tuple[str, ...],
    restate: tuple[str, ...],
    expected: str | None,
    as_json: bool,
) -> None:
    """Build what the plan for ENVIRONMENT says, audit it, and let the environment show it, all at once."""
    from lakehouse_assets.cli.progress import Progress
    from lakehouse_assets.core.diagnostics import listening
    from lakehouse_assets.lake.model_plans import check_unmoved

    settings = load_settings()
    made = make(settings, environment, select, restate)
    check_unmoved(made, expected)
    with listening(Progress(quiet=as_json).on_diagnostic):
        done = carry_out(settings, made)
    _print_execution(done, as_json=as_json)
    if not as_json:
        print_closed(made)
    ctx.exit(1 if done.failed else 0)


@click.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@json_option
def promote(source: str, target: str, as_json: bool) -> None:
    """Let the environment TO show what FROM shows. Nothing is computed; readers see all of it or none."""
    from lakehouse_assets.lake.environment_changes import promote as promoted
    from lakehouse_assets.lake.tables import Lake

    _print_execution(promoted(Lake(load_settings().lake), source, target), as_json=as_json)


@click.command()
@click.argument("environment")
@click.option("--to", type=click.IntRange(min=1), metavar="REVISION", help="Default: the one before.")
@json_option
def rollback(environment: str, to: int | None, as_json: bool) -> None:
    """Let ENVIRONMENT show an earlier revision again. Nothing is computed."""
    from lakehouse_assets.lake.environment_changes import rollback as rolled_back
    from lakehouse_assets.lake.tables import Lake

    _print_execution(rolled_back(Lake(load_settings().lake), environment, to=to), as_json=as_json)


def make(settings: Settings, environment: str, select: tuple[str, ...], restate: tuple[str, ...]) -> "Plan":
    from lakehouse_assets.lake.model_plans import Request, plan_for
    from lakehouse_assets.lake.tables import Lake

    request = Request(environment=environment, selection=select, restate=restate)
    return plan_for(Lake(settings.lake), settings.models, request, variables=settings.variables)


def carry_out(settings: Settings, plan: "Plan") -> "PipelineExecution":
    """Apply a plan in this process."""
    from lakehouse_assets.lake.environment_holds import building
    from lakehouse_assets.lake.known_tables import known_tables
    from lakehouse_assets.lake.model_apply import Application, written_here
    from lakehouse_assets.lake.model_building import Workshop
    from lakehouse_assets.lake.model_engine import extent_of
    from lakehouse_assets.lake.session import runtime_for
    from lakehouse_assets.lake.tables import Lake
    from lakehouse_assets.plan.engine import choose_engine

    workshop = Workshop(
        lake=Lake(settings.lake),
        tables=known_tables(Lake(settings.lake)),
        spark=lambda: runtime_for(settings).session,
        choice=choose_engine(settings.engine, extent_of(plan)),
    )
    application = Application(workshop=workshop, plan=plan, write=written_here(workshop))
    told: dict[str, dict[str, Any]] = {}
    with building(workshop.lake):
        for made in application.made():
            from lakehouse_assets.assets.models import told_of_model  # not before there is something to tell Dagster

            told[made.meaning.name] = told_of_model(made, application)
        done = application.finish()
    if told or application.audits:
        _tell_dagster(settings, application, told)
    return done


def _tell_dagster(settings: Settings, application: "Application", told: dict[str, dict[str, Any]]) -> None:
    """Let the UI show what the command has built and audited, as if a run had done it."""
    from dagster import AssetCheckEvaluation, AssetCheckSeverity, AssetKey, AssetMaterialization

    from lakehouse_assets.assets.models import told_of_audit
    from lakehouse_assets.cli.instance import open_instance

    execution = {"execution": application.execution.id}
    with open_instance(settings) as instance:
        for name, metadata in told.items():
            instance.report_runless_asset_event(AssetMaterialization(name, metadata=metadata | execution))
        for each in application.audits:
            instance.report_runless_asset_event(
                AssetCheckEvaluation(
                    asset_key=AssetKey(each.model),
                    check_name=each.audit,
                    passed=each.passed,
                    severity=AssetCheckSeverity.ERROR,
                    metadata=told_of_audit(each) | execution,
                )
            )


def print_plan(plan: "Plan", *, as_json: bool) -> None:
    from lakehouse_assets.models.explain import plan_json, plan_rows

    if as_json:
        print_json(plan_json(plan))
        return
    rows = plan_rows(plan)
    if rows:
        print_rows(rows, list(rows[0]))
    print_closed(plan)
    running = len(plan.running)
    click.echo(
        f"\nplan {plan.id}: {running} of {len(rows)} models will run" + ("" if plan.moves else "; nothing moves")
    )


def print_closed(plan: "Plan") -> None:
    """Say in full which days stay as they were built though inputs moved, and how to build them once more."""
    for step in plan.steps:
        if step.closed:
            click.echo(f"\n{step.name}: {step.reason}")


def _print_execution(done: "PipelineExecution", *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "execution": done.id,
                "environment": done.environment,
                "status": done.status,
                "revision": done.revision,
                "run": list(done.run),
                "skipped": dict(done.skipped),
                "failed": dict(done.failed),
                "metrics": dict(done.metrics),
            }
        )
        return
    click.echo(f"{done.action} {done.environment}: {done.status}, execution {done.id}")
    if done.run:
        click.echo(f"  ran      {', '.join(done.run)}")
    if done.skipped:
        click.echo(f"  skipped  {', '.join(sorted(done.skipped))}")
    for name, text in sorted(done.failed.items()):
        click.secho(visible_lines(f"  {name}: {text}"), err=True, fg="red")
    if done.failed:
        click.echo(f"  {done.environment} shows what it showed before; what was built is kept", err=True)
