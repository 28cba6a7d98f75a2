"""`lakehouse stream`: what has come into the lake's streams."""

from dataclasses import asdict
from typing import Any

import click

from lakehouse_assets.cli.output import json_option, print_json
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import load_settings


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME…]")
@click.option("--all", "everything", is_flag=True, help="Every stream that the ingest folder names.")
@click.option("--seconds", type=click.IntRange(min=1), help="Go on for so long; without it, until nothing is left.")
@json_option
def stream(names: tuple[str, ...], everything: bool, seconds: int | None, as_json: bool) -> None:
    """Take what has come into streams, one after the other: files of a folder, changes of a table.

    \b
    Example: lakehouse stream readings --seconds 60
    """
    if everything == bool(names):
        raise click.UsageError("give NAMEs or --all")
    from lakehouse_assets.assets.streams.running import take_stream
    from lakehouse_assets.sources.sql.project import load_project

    settings = load_settings()
    project = load_project(settings)
    known = {each.name: each for each in project.streams}
    if unknown := [name for name in names if name not in known]:
        raise BadInputError(
            subject=f"stream {unknown[0]}",
            seen=f"there is none of that name among {', '.join(known) or 'none at all'}",
            why="there is nothing to take",
            remedy="name one of these, or write it into a file of the ingest folder (LAKEHOUSE_INGEST)",
        )
    told: list[dict[str, Any]] = []
    for name in names or known:
        done = {"name": name, **asdict(take_stream(settings, project, known[name], seconds=seconds))}
        told.append(done)
        if not as_json:
            counts = f"{done['inserted']} inserted, {done['updated']} updated, {done['deleted']} deleted"
            aside = f", {done['quarantined']} set aside in quarantine" if done["quarantined"] else ""
            click.echo(f"{name}: {done['batches']} batches; {counts}{aside}")
    if as_json:
        print_json(told)
