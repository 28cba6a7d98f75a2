"""`lakehouse env`: environments made, listed, looked at, compared and dropped."""

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.cli.output import json_option, print_json, print_rows, readable_bytes
from lakehouse_assets.core.settings import load_settings

if TYPE_CHECKING:
    from lakehouse_assets.lake.tables import Lake
    from lakehouse_assets.models.environment import Environment

_DAY = click.DateTime(formats=["%Y-%m-%d"])


@click.group()
def env() -> None:
    """Environments: which version of each table and model is meant."""


@env.command()
@click.argument("name")
@click.option("--base", help="Environment to begin with; what is equal to it is shared.")
@click.option("--description", default="", help="What it is for.")
@click.option("--owner", default="", help="Who answers for it.")
@click.option("--start", type=_DAY, help="First day of time that is built in it.")
@click.option("--end", type=_DAY, help="Day before which that ends.")
@click.option("--expires-in", type=click.IntRange(min=1), metavar="DAYS", help="Let it be dropped after so many days.")
@json_option
def create(
    name: str,
    base: str | None,
    description: str,
    owner: str,
    start: datetime | None,
    end: datetime | None,
    expires_in: int | None,
    as_json: bool,
) -> None:
    """Make an environment; no row is copied."""
    from lakehouse_assets.lake.environment_changes import create_environment
    from lakehouse_assets.models.environment import Environment

    made = create_environment(
        _lake(),
        Environment(
            name=name,
            base=base,
            description=description,
            owner=owner,
            start=start.date() if start else None,
            end=end.date() if end else None,
            expires_at=datetime.now(UTC) + timedelta(days=expires_in) if expires_in else None,
        ),
    )
    if as_json:
        print_json(_summary(made))
    else:
        click.echo(f"made {name}" + (f" with the {len(made.models)} models of {base}" if base else ""))


@env.command("list")
@json_option
def list_environments(as_json: bool) -> None:
    """List the environments."""
    from lakehouse_assets.lake.environments import Environments

    rows = [_summary(each) for each in Environments(_lake()).all().values()]
    if as_json:
        print_json(rows)
    elif rows:
        print_rows(rows, list(rows[0]))
    else:
        click.echo("there are no environments yet; make one with `lakehouse env create NAME`")


@env.command()
@click.argument("name")
@json_option
def show(name: str, as_json: bool) -> None:
    """Tell what an environment has: each name with its version, and whether it is shared with the base."""
    from lakehouse_assets.lake.environments import Environments
    from lakehouse_assets.models.environment import inherited, known

    store = Environments(_lake())
    there = store.all()
    environment = inherited(there, known(there, name))
    above = there[environment.base].members if environment.base in there else {}
    members = [
        {
            "name": each,
            "kind": member.kind,
            "version": member.version,
            "table": member.table,
            "at": member.table_version if member.table else None,
            "shared": environment.base if above.get(each) == member else None,
        }
        for each, member in environment.members.items()
    ]
    revisions = [_revision(each) for each in store.history(name)]
    if as_json:
        print_json({**_summary(environment), "members": members, "revisions": revisions})
        return
    for key, value in _summary(environment).items():
        click.echo(f"{key:<12} {'' if value is None else value}")
    for title, rows in (("members", members), ("revisions", revisions)):
        if rows:
            click.echo(f"\n{title}")
            print_rows(rows, list(rows[0]))


@env.command()
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@json_option
def diff(first: str, second: str, as_json: bool) -> None:
    """Tell what differs between the environments A and B."""
    from lakehouse_assets.lake.environments import Environments
    from lakehouse_assets.models.environment import differences, known

    there = Environments(_lake()).all()
    rows = [
        {
            "name": each.name,
            "what": each.what,
            first: each.left and f"{each.left.version} at {each.left.table_version}",
            second: each.right and f"{each.right.version} at {each.right.table_version}",
        }
        for each in differences(known(there, first), known(there, second))
    ]
    if as_json:
        print_json(rows)
    elif rows:
        print_rows(rows, list(rows[0]))
    else:
        click.echo(f"{first} and {second} show the same")


@env.command()
@click.argument("name")
@json_option
def drop(name: str, as_json: bool) -> None:
    """Drop an environment; `lakehouse env gc` frees what no other refers to."""
    from lakehouse_assets.lake.environment_changes import drop_environment

    dropped = drop_environment(_lake(), name)
    print_json(_summary(dropped)) if as_json else click.echo(f"dropped {name}")


@env.command()
@click.option("--dry-run", is_flag=True, help="Tell what would be freed, and free nothing.")
@json_option
def gc(dry_run: bool, as_json: bool) -> None:
    """Drop environments that have expired, and free tables of models that no environment refers to."""
    from lakehouse_assets.lake.environment_holds import collect_garbage

    done = collect_garbage(_lake(), dry_run=dry_run)
    if as_json:
        print_json({"tables": done.tables, "environments": list(done.environments), "kept": done.kept})
        return
    word = "would be freed" if dry_run else "freed"
    for table, size in done.tables.items():
        click.echo(f"{table}: {readable_bytes(size)} {word}")
    for name in done.environments:
        click.echo(f"environment {name}: expired")
    click.echo(f"{len(done.tables)} tables {word}, {done.kept} are referred to")


def _lake() -> "Lake":
    from lakehouse_assets.lake.tables import Lake

    return Lake(load_settings().lake)


def _summary(environment: "Environment") -> dict[str, Any]:
    expires = environment.expires_at
    return {
        "environment": environment.name,
        "base": environment.base,
        "revision": environment.revision,
        "models": len(environment.models),
        "owner": environment.owner,
        "start": _day(environment.start),
        "end": _day(environment.end),
        "expires": expires.date().isoformat() if expires else None,
        "description": environment.description,
    }


def _revision(environment: "Environment") -> dict[str, Any]:
    return {
        "revision": environment.revision,
        "action": environment.action,
        "models": len(environment.models),
        "execution": environment.execution,
        "changed at": environment.changed_at,
    }


def _day(day: date | None) -> str | None:
    return day.isoformat() if day else None
