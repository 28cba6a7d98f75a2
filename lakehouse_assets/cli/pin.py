"""`lakehouse versions`, `lakehouse pin`, `lakehouse unpin`: the commits whose graph can be read, and keeping them."""

from typing import Any

import click

from lakehouse_assets.cli.completed import repository_names
from lakehouse_assets.cli.output import json_option, print_json, print_rows
from lakehouse_assets.core.settings import Settings, load_settings


@click.command()
@click.argument("name", shell_complete=repository_names)
@json_option
def versions(name: str, as_json: bool) -> None:
    """List the commits that the graph of NAME was brought to, the last first, and whether each can still be read."""
    rows = version_rows(load_settings(), name)
    if as_json:
        print_json(rows)
    elif rows:
        columns = ["commit", "committed", "published", "readable", "pinned", "subject"]
        print_rows([{**row, "commit": row["commit"][:12]} for row in rows], columns)
    else:
        click.echo(f"the graph of {name} was never published; `lakehouse sync {name}` does it")


def version_rows(settings: Settings, name: str) -> list[dict[str, Any]]:
    from lakehouse_assets.assets.published import told_commits
    from lakehouse_assets.lake.pins import pins, unreadable_tables
    from lakehouse_assets.lake.published import published_commits
    from lakehouse_assets.lake.registry import Registry
    from lakehouse_assets.lake.tables import Lake

    lake = Lake(settings.lake)
    Registry(lake).get([name])
    told = told_commits(lake, name)
    pinned = {each.commit_sha: each.why for each in pins(lake) if each.repo == name}
    return [
        {
            "commit": each.commit_sha,
            "committed": told.get(each.commit_sha, {}).get("committed_at"),
            "published": each.published_at,
            "readable": not unreadable_tables(lake, each),
            "pinned": each.commit_sha in pinned,
            "why": pinned.get(each.commit_sha),
            "subject": told.get(each.commit_sha, {}).get("subject"),
            "tables": dict(each.versions),
        }
        for each in published_commits(lake, name)
    ]


@click.command()
@click.argument("commit", metavar="REPO@COMMIT")
@click.option("--why", default="", help="What it is kept for; shown wherever it holds something.")
@json_option
def pin(commit: str, why: str, as_json: bool) -> None:
    """Keep the graph of REPO at COMMIT readable until it is unpinned, whatever is vacuumed."""
    from lakehouse_assets.assets.published import find_published
    from lakehouse_assets.lake.pins import pin as keep
    from lakehouse_assets.lake.tables import Lake

    settings = load_settings()
    found = find_published(settings, commit)
    new = keep(Lake(settings.lake), found, why)
    _tell(found.repo, found.commit_sha, "pinned" if new else "was pinned already", as_json=as_json)


@click.command()
@click.argument("commit", metavar="REPO@COMMIT")
@json_option
def unpin(commit: str, as_json: bool) -> None:
    """Let the graph of REPO at COMMIT go: the next vacuum may remove it."""
    from lakehouse_assets.assets.published import find_published
    from lakehouse_assets.lake.pins import unpin as let_go
    from lakehouse_assets.lake.tables import Lake

    settings = load_settings()
    found = find_published(settings, commit)
    gone = let_go(Lake(settings.lake), found)
    _tell(found.repo, found.commit_sha, "unpinned" if gone else "was not pinned", as_json=as_json)


def _tell(repo: str, commit: str, what: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"repo": repo, "commit": commit, "result": what})
    else:
        click.echo(f"{repo}@{commit[:12]} {what}")
