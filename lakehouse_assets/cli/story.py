"""`lakehouse story`: what a run did, and why."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakehouse_assets.cli.compare import page_option
from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.cli.output import json_option, print_json
from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.core.text import visible

if TYPE_CHECKING:
    from lakehouse_assets.stories.records import Story


@click.command()
@click.argument("run", metavar="[RUN]", required=False)
@page_option
@json_option
def story(run: str | None, output: Path | None, as_json: bool) -> None:
    """Tell what RUN did, and why: the beginning of its id is enough, and without one it is the latest.

    Prints a summary; with -o it writes a page that opens from disk, with samples of the rows that changed.

    \b
    Examples:
      lakehouse story
      lakehouse story 223ab2e6 -o story.html
    """
    told = story_of(load_settings(), run)
    if output is not None:
        from lakehouse_assets.stories.story_page import story_page

        output.write_text(story_page(told), encoding="utf-8")
        click.echo(f"wrote {output}", err=True)
    if as_json:
        from lakehouse_assets.stories.records import as_json as values

        print_json(values(told))
    elif output is None:
        _print(told)


def story_of(settings: Settings, run: str | None) -> "Story":
    from lakehouse_assets.automation.run_records import find_run, run_record
    from lakehouse_assets.lake.run_story import run_story
    from lakehouse_assets.lake.tables import Lake

    with open_instance(settings) as instance:
        record = run_record(instance, find_run(instance, run))
    return run_story(Lake(settings.lake), record)


def _print(told: "Story") -> None:
    run = told.run
    took = "not ended" if run.seconds is None else f"{run.seconds:.1f} s"
    click.echo(f"run {run.run_id} of {run.job}: {run.status}, {took}, {told.rows_changed:,} rows changed")
    for name, commit in run.asked.items():
        click.echo(f"  {visible(name)} {commit[:12]}")
    for asset in told.assets:
        rows = sum(write.rows_changed for write in asset.writes)
        click.echo(visible(f"  {asset.name:<18} {asset.outcome:<10} {rows:>9,} rows  {asset.why}"))
    for problem in told.problems:
        click.secho(visible(f"{problem.subject}: {problem.seen}"), fg="red")
        for word, text in (("why it matters", problem.why), ("what to do", problem.remedy)):
            if text:
                click.echo(visible(f"  {word}: {text}"))
