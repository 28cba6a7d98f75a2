"""`lakehouse backfill`: make what is stale of many repositories, in batches, each of them one run."""

from typing import TYPE_CHECKING

import click

from lakehouse_assets.cli.completed import repository_names
from lakehouse_assets.cli.output import json_option, print_json
from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.cli.sync import as_json_values, failed_in, print_plan, sync_plan, until_fresh
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.plan.batching import BatchLimits

if TYPE_CHECKING:
    from lakehouse_assets.assets.freshness import SyncPlan
    from lakehouse_assets.cli.runs import RunResult

_MIB = 1024**2
_DEFAULT = BatchLimits()


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME…]", shell_complete=repository_names)
@click.option("--all", "everything", is_flag=True, help="Every registered repository.")
@click.option("--asset", "assets", multiple=True, metavar="ASSET", help="Only this asset; as often as needed.")
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    default=_DEFAULT.repositories,
    show_default=True,
    help="The most repositories of one run.",
)
@click.option(
    "--batch-mib",
    type=click.IntRange(min=1),
    default=_DEFAULT.bytes // _MIB,
    show_default=True,
    help="The most MiB of git objects of one run; a larger repository is alone.",
)
@click.option("--dry-run", is_flag=True, help="Tell what would be done and why, and do nothing.")
@json_option
@click.pass_context
def backfill(
    ctx: click.Context,
    names: tuple[str, ...],
    everything: bool,
    assets: tuple[str, ...],
    batch: int,
    batch_mib: int,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Make what is stale of many repositories, in batches.

    Each batch is one run with at most one commit per table. A repository that fails is named and left out; the others
    are made. Begun again after a kill, it goes on with what is still stale.
    """
    if everything == bool(names):
        raise click.UsageError("give NAMEs or --all")
    settings = load_settings()
    _check_assets(assets)
    plan = _of_assets(sync_plan(settings, names), assets)
    results = []
    if plan.stale and not dry_run:
        from lakehouse_assets.cli.runs import run_sync

        limits = BatchLimits(repositories=batch, bytes=batch_mib * _MIB)
        progress = Progress(quiet=as_json)

        def run(stale: "SyncPlan") -> "list[RunResult]":
            return run_sync(settings, stale, progress, limits=limits, assets=assets)

        if assets:
            results = run(plan)
        else:
            plan, results = until_fresh(settings, plan, run)
    if as_json:
        print_json(as_json_values(settings, plan, results))
    else:
        print_plan(settings, plan, results, dry_run=dry_run)
    ctx.exit(1 if failed_in(plan, results) else 0)


def _check_assets(assets: tuple[str, ...]) -> None:
    from lakehouse_assets.recipes.catalog import GRAPH_TABLES
    from lakehouse_assets.recipes.git import GIT_TABLES

    known = [contract.name for contract in (*GIT_TABLES, *GRAPH_TABLES)]
    for name in assets:
        if name not in known:
            raise BadInputError(
                subject=f"asset {name!r}",
                seen="it is not one that a sync makes",
                why="it is not known when it is stale",
                remedy=f"choose among {', '.join(known)}",
            )


def _of_assets(plan: "SyncPlan", assets: tuple[str, ...]) -> "SyncPlan":
    """The plan as if these assets were all that can be stale."""
    from dataclasses import replace

    if not assets:
        return plan
    decisions = (
        replace(each, reasons=tuple(reason for reason in each.reasons if reason.asset in assets))
        for each in plan.decisions
    )
    return replace(plan, decisions=tuple(decisions))
