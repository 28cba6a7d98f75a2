"""`lakehouse history`: when a definition, and the calls and imports around it, came and went."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import click

from lakehouse_assets.cli.completed import repository_names
from lakehouse_assets.cli.output import json_option, print_json, print_rows
from lakehouse_assets.core.settings import load_settings


@click.command()
@click.argument("symbol")
@click.option("--repo", shell_complete=repository_names, help="Only definitions of this repository.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(["CALL", "IMPORT", "INHERITS", "OVERRIDES", "REF"]),
    help="Only edges of this kind; may be repeated.",
)
@json_option
def history(symbol: str, repo: str | None, kinds: tuple[str, ...], as_json: bool) -> None:
    """Tell when SYMBOL, and each edge from and to it, was born and died.

    SYMBOL is a dotted name or the end of one. Commits are those that the repository was read at: what a sync over
    several commits brought is told of the last of them.
    """
    from lakehouse_assets.lake.history import lives_of
    from lakehouse_assets.lake.tables import Lake

    definitions, edges = lives_of(Lake(load_settings().lake), symbol, repo=repo, kinds=kinds)
    if as_json:
        print_json({"definitions": definitions, "edges": edges})
        return
    events = sorted(
        (
            *(event for life in definitions for event in _events(life, f"{life['kind']} {life['qualified_name']}")),
            *(event for life in edges for event in _events(life, _edge(life))),
        ),
        key=_order,
    )
    print_rows(events, ["when", "commit", "change", "what", "where"])
    alive = sum(life["removed_in"] is None for life in edges)
    click.echo(f"{len(definitions)} lives of definitions, {len(edges)} of edges, of which {alive} are there", err=True)


def _edge(life: dict[str, Any]) -> str:
    elsewhere = "" if life["dst_repo"] == life["repo"] else f"{life['dst_repo']}: "
    return f"{life['kind']} {life['source'] or 'unknown'} → {elsewhere}{life['target'] or 'unknown'}"


def _events(life: dict[str, Any], what: str) -> Iterator[dict[str, Any]]:
    """Birth and death as lines; what was there when reading began has no birth to tell."""
    place = {"what": what, "where": f"{life['repo']}:{life['path']}"}
    born = "added" if life["after_commit"] else "known from"
    yield {"when": life["first_at"], "commit": life["first_commit"][:12], "change": born, **place}
    if life["removed_in"] is not None:
        yield {"when": life["removed_at"], "commit": life["removed_in"][:12], "change": "removed", **place}


def _order(event: dict[str, Any]) -> tuple[float, str, str]:
    """By time, and at one commit what goes before what comes; what has no date comes last."""
    when: datetime | None = event["when"]
    return float("inf") if when is None else when.timestamp(), str(event["change"] != "removed"), event["what"]
