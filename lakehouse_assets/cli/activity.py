"""`lakehouse activity`: bring what is told of months up to the commits."""

from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.cli.output import json_option, print_json
from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.core.diagnostics import listening
from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.core.text import visible_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dagster import DagsterInstance, JobDefinition

    from lakehouse_assets.core.errors import LakehouseError


@click.command()
@click.option("--dry-run", is_flag=True, help="Tell which months are stale and why, and do nothing.")
@json_option
@click.pass_context
def activity(ctx: click.Context, dry_run: bool, as_json: bool) -> None:
    """Bring commit_files, commit_activity and churn up to the commits of all repositories.

    Only months whose commits changed are made. The model hot_spots counts from commit_files.

    \b
    Example: lakehouse activity --dry-run
    """
    from lakehouse_assets.assets.activity.months import stale_months
    from lakehouse_assets.lake.tables import Lake

    settings = load_settings()
    stale = stale_months(Lake(settings.lake))
    failed: dict[str, LakehouseError] = {}
    if stale and not dry_run:
        failed = _make(settings, list(stale), Progress(quiet=as_json))
    if as_json:
        reasons = {month: [{"asset": why.asset, "part": why.part} for why in found] for month, found in stale.items()}
        print_json({"months": reasons, "errors": {name: error.parts for name, error in failed.items()}})
    else:
        _print(stale, failed, dry_run=dry_run)
    ctx.exit(1 if failed else 0)


def _print(stale: dict[str, Any], failed: "dict[str, LakehouseError]", *, dry_run: bool) -> None:
    for month, reasons in stale.items() if dry_run else ():
        click.echo(f"{month[:7]}  stale: {', '.join(sorted({f'{why.asset} ({why.part})' for why in reasons}))}")
    if not stale:
        click.echo("every month is fresh")
    elif not dry_run:
        click.echo(f"{len(stale)} months brought up to date, {min(stale)[:7]} to {max(stale)[:7]}")
    for name, error in failed.items():
        click.secho(visible_lines(f"{name} was left out: {error}"), err=True, fg="red")


def activity_job() -> "JobDefinition":
    from lakehouse_assets.definitions import defs

    return defs.resolve_job_def("activity")


def _make(settings: Settings, months: "Sequence[str]", progress: Progress) -> "dict[str, LakehouseError]":
    """A run for each stretch of months; gives the repositories that could not be read."""
    from lakehouse_assets.automation.activity import stretched
    from lakehouse_assets.cli.instance import open_instance

    failed: dict[str, LakehouseError] = {}
    with open_instance(settings) as instance:
        for names in stretched(months):
            with progress.step(f"{names[0][:7]}–{names[-1][:7]}"), listening(progress.on_warning):
                failed |= _run(instance, names)
    return failed


def _run(instance: "DagsterInstance", months: "Sequence[str]") -> "dict[str, LakehouseError]":
    from dagster import execute_job, reconstructable

    from lakehouse_assets.lake.failures import errors_in
    from lakehouse_assets.lake.run_partitions import range_tags

    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    result = execute_job(reconstructable(activity_job), instance, tags=range_tags(months), run_config=quiet)
    failed: dict[str, LakehouseError] = {}
    for event in result.all_events:
        if event.is_step_failure:
            told = event.step_failure_data.user_failure_data
            errors = errors_in(told.metadata) if told is not None else {}
            if not errors:
                raise RuntimeError(str(event.step_failure_data.error))
            if "" in errors:
                raise errors[""]
            failed |= errors
    return failed
