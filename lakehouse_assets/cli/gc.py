"""`lakehouse gc`: deletes what nobody refers to."""

from dataclasses import asdict

import click

from lakehouse_assets.cli.output import json_option, print_json, print_rows, readable_bytes
from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.core.settings import load_settings


@click.command()
@click.option("--dry-run", is_flag=True, help="Tell what would be deleted, and delete nothing.")
@json_option
def gc(dry_run: bool, as_json: bool) -> None:
    """Delete rows and mirrors of removed repositories, contents that no file has, and folders left by kills.

    Contents stay while a file has them: at the head of a repository, or in a commit that is kept or pinned. What is
    deleted from a table is freed on disk by the next `lakehouse vacuum`.
    """
    from lakehouse_assets.assets.garbage import collect_garbage

    with Progress(quiet=as_json).step("look" if dry_run else "collect"):
        found = collect_garbage(load_settings(), dry_run=dry_run)
    if as_json:
        print_json([asdict(each) for each in found])
        return
    rows = [{**asdict(each), "bytes": readable_bytes(each.bytes)} for each in found]
    if rows:
        print_rows(rows, list(rows[0]))
    total = readable_bytes(sum(each.bytes for each in found))
    click.echo(f"{len(found)} things of {total} {'would be' if dry_run else 'were'} deleted", err=True)
