"""`lakehouse status`: what is fresh, what is stale, and because of which part of its key."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.cli.completed import repository_names
from lakehouse_assets.cli.main import print_error
from lakehouse_assets.cli.output import json_option, print_json, print_rows
from lakehouse_assets.core.settings import load_settings

if TYPE_CHECKING:
    from lakehouse_assets.assets.freshness import SyncPlan

_SHOWN = 32
"""Characters of a key's value that a table shows; --json has all of them."""


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME…]", shell_complete=repository_names)
@json_option
@click.pass_context
def status(ctx: click.Context, names: tuple[str, ...], as_json: bool) -> None:
    """Tell, per repository and asset, whether it is fresh, or stale because of what.

    An asset waits if it is as its inputs are and these are stale: whether it has to be made shows when they are.
    Looks at git and the Delta log only; starts no JVM. Without NAMEs it tells of every repository.
    """
    from lakehouse_assets.assets.freshness import plan_sync
    from lakehouse_assets.lake.registry import Registry
    from lakehouse_assets.lake.tables import Lake

    settings = load_settings()
    registry = Registry(Lake(settings.lake))
    plan = plan_sync(settings, registry.get(names) if names else list(registry.all().values()))
    if as_json:
        print_json(_as_json(plan))
    else:
        _print(plan)
    ctx.exit(1 if plan.errors else 0)


def _print(plan: "SyncPlan") -> None:
    rows = [
        {
            "repository": decision.repository.name,
            "asset": reason.asset,
            "stale because of": reason.part,
            "made with": reason.differing[0][:_SHOWN],
            "should be": reason.differing[1][:_SHOWN],
        }
        for decision in plan.stale
        for reason in decision.reasons
    ]
    for decision in plan.fresh:
        click.echo(f"{decision.repository.name}: fresh at {decision.head.commit_sha[:12]}")
    if rows:
        print_rows(rows, list(rows[0]))
        for decision in plan.stale:
            counts = Counter(decision.states.values())
            told = ", ".join(f"{counts[state]} {state}" for state in ("stale", "waiting", "fresh") if counts[state])
            click.echo(f"{decision.repository.name}: assets {told}; the head is {decision.head.commit_sha[:12]}")
    elif not plan.decisions and not plan.errors:
        click.echo("no repository is registered yet; add one with `lakehouse repo add NAME PATH_OR_URL`")
    for name, error in plan.errors.items():
        click.echo(f"{name}: could not be looked at", err=True)
        print_error(error, as_json=False)


def _as_json(plan: "SyncPlan") -> dict[str, Any]:
    return {
        "repositories": [
            {
                "name": decision.repository.name,
                "commit": decision.head.commit_sha,
                "fresh": not decision.reasons,
                "assets": decision.states,
                "stale": [{"asset": r.asset, "part": r.part, "old": r.old, "new": r.new} for r in decision.reasons],
            }
            for decision in plan.decisions
        ],
        "errors": [{"name": name, "seen": error.seen, "remedy": error.remedy} for name, error in plan.errors.items()],
    }
