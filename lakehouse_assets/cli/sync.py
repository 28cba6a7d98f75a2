"""`lakehouse sync`: bring repositories up to their heads."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.cli.completed import repository_names
from lakehouse_assets.cli.main import print_error
from lakehouse_assets.cli.output import json_option, print_json
from lakehouse_assets.core.errors import BadInputError, LakehouseError
from lakehouse_assets.core.settings import Settings, load_settings

if TYPE_CHECKING:
    from lakehouse_assets.assets.freshness import SyncPlan
    from lakehouse_assets.cli.runs import RunResult


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME…]", shell_complete=repository_names)
@click.option("--all", "everything", is_flag=True, help="Every registered repository.")
@click.option("--to", metavar="COMMIT", help="Sync one repository to this commit instead of its head.")
@click.option("--dry-run", is_flag=True, help="Tell what would be done and why, and do nothing.")
@json_option
@click.pass_context
def sync(
    ctx: click.Context, names: tuple[str, ...], everything: bool, to: str | None, dry_run: bool, as_json: bool
) -> None:
    """Bring repositories up to their heads.

    What is fresh costs a look at git and at the Delta log; only what is stale starts a run.
    """
    if everything == bool(names):
        raise click.UsageError("give NAMEs or --all")
    if to is not None and len(names) != 1:
        raise click.UsageError("--to COMMIT goes with exactly one NAME")
    settings = load_settings()
    commits = {names[0]: to} if to is not None else None
    plan, results = sync_repositories(settings, names, to=commits, dry_run=dry_run, quiet=as_json)
    if as_json:
        print_json(as_json_values(settings, plan, results))
    else:
        print_plan(settings, plan, results, dry_run=dry_run)
    ctx.exit(1 if failed_in(plan, results) else 0)


def sync_repositories(
    settings: Settings,
    names: tuple[str, ...],
    *,
    to: Mapping[str, str] | None = None,
    dry_run: bool = False,
    quiet: bool = False,
) -> "tuple[SyncPlan, list[RunResult]]":
    """Plan, then do the plan; no names means all repositories. `to` gives commits by name, in place of heads."""
    plan = sync_plan(settings, names, to=to)
    if dry_run or not plan.stale:
        return plan, []
    from lakehouse_assets.cli.progress import Progress
    from lakehouse_assets.cli.runs import run_sync

    progress = Progress(quiet=quiet)
    return until_fresh(settings, plan, lambda stale: run_sync(settings, stale, progress))


def until_fresh(
    settings: Settings, plan: "SyncPlan", run: "Callable[[SyncPlan], list[RunResult]]"
) -> "tuple[SyncPlan, list[RunResult]]":
    """Do a plan, and then what it made stale: a repository that reads one that was written is linked again.

    The second look is at the commits of the first, and finds all: what a repository reads of others is read from
    git, so that linking one makes no other stale. Who failed is not tried twice.
    """
    results = run(plan)
    failed = failed_in(plan, results)
    left = [each for each in plan.decisions if each.repository.name not in failed]
    if len(left) < 2:
        return plan, results
    from lakehouse_assets.assets.freshness import plan_sync

    commits = {each.repository.name: each.head.commit_sha for each in left}
    later = plan_sync(settings, [each.repository for each in left], to=commits, fetch=False)
    if later.stale:
        results += run(later)
    return plan.followed_by(later), results


def sync_plan(settings: Settings, names: tuple[str, ...], *, to: Mapping[str, str] | None = None) -> "SyncPlan":
    """What is stale of the named repositories; no names means all."""
    from lakehouse_assets.assets.freshness import plan_sync
    from lakehouse_assets.lake.registry import Registry
    from lakehouse_assets.lake.tables import Lake

    registry = Registry(Lake(settings.lake))
    repositories = registry.get(names) if names else list(registry.all().values())
    if not repositories:
        raise BadInputError(
            subject="sync",
            seen="no repository is registered",
            why="there is nothing to bring up to date",
            remedy="register one with `lakehouse repo add NAME PATH_OR_URL`",
        )
    return plan_sync(settings, repositories, to=to)


def runs_of(results: "list[RunResult]") -> "list[RunResult]":
    return [result for result in results if result.run_id]


def failed_in(plan: "SyncPlan", results: "list[RunResult]") -> "dict[str, LakehouseError]":
    """By repository why it could not be looked at, or what its run met."""
    return {**plan.errors, **{name: error for result in results for name, error in result.failed.items()}}


def print_plan(settings: Settings, plan: "SyncPlan", results: "list[RunResult]", *, dry_run: bool) -> None:
    failed = failed_in(plan, results)
    if plan.stale:
        click.echo(f"engine: {plan.engine(settings)}")
    for decision in plan.fresh:
        click.echo(f"{decision.repository.name}: fresh at {decision.head.commit_sha[:12]}")
    for decision in plan.stale:
        if decision.repository.name in failed:
            continue
        word = "would sync" if dry_run else "synced"
        click.echo(f"{decision.repository.name}: {word} to {decision.head.commit_sha[:12]} ({decision.head.ref})")
        for reason in decision.reasons if dry_run else ():
            click.echo(f"  {reason.asset}: {reason.part}: {(reason.old or 'nothing')[:16]} → {reason.new[:16]}")
    for result in runs_of(results):
        click.echo(f"run {result.run_id}")
    for name, error in failed.items():
        click.echo(f"{name}: not synced", err=True)
        print_error(error, as_json=False)


def as_json_values(settings: Settings, plan: "SyncPlan", results: "list[RunResult]") -> dict[str, Any]:
    choice = plan.engine(settings)
    return {
        "repositories": [
            {
                "name": decision.repository.name,
                "commit": decision.head.commit_sha,
                "ref": decision.head.ref,
                "fresh": not decision.reasons,
                "reasons": [{"asset": r.asset, "part": r.part, "old": r.old, "new": r.new} for r in decision.reasons],
            }
            for decision in plan.decisions
        ],
        "engine": {"name": choice.engine, "reason": choice.reason} if plan.stale else None,
        "runs": [
            {"run_id": r.run_id, "repositories": list(r.repositories), "rows": r.rows, "seconds": r.seconds}
            for r in runs_of(results)
        ],
        "errors": [
            {"name": name, "subject": e.subject, "seen": e.seen, "why": e.why, "remedy": e.remedy}
            for name, e in failed_in(plan, results).items()
        ],
    }
