"""`lakehouse optimize`: fewer, fuller files."""

from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.cli.completed import table_names
from lakehouse_assets.cli.output import json_option, print_json, print_rows, readable_bytes
from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.core.settings import load_settings

if TYPE_CHECKING:
    from lakehouse_assets.plan.compaction import CompactionPlan


@click.command()
@click.argument("tables", nargs=-1, shell_complete=table_names)
@click.option("--everything", is_flag=True, help="Also where a single file would be saved.")
@click.option("--dry-run", is_flag=True, help="Tell what would be done, and do nothing.")
@json_option
def optimize(tables: tuple[str, ...], everything: bool, dry_run: bool, as_json: bool) -> None:
    """Write small files of TABLES, or of all tables, together, in the order of their owners.

    No row changes: change feeds, cursors and data versions see nothing of it. A partition is left alone until it
    has enough small files to be worth a commit. What is replaced stays on disk until `lakehouse vacuum`.
    """
    from lakehouse_assets.assets import maintenance
    from lakehouse_assets.plan.compaction import ENOUGH

    with Progress(quiet=as_json).step("look" if dry_run else "compact"):
        plans = maintenance.optimize(load_settings(), tables, enough=1 if everything else ENOUGH, dry_run=dry_run)
    rows = [_row(each) for each in plans]
    if as_json:
        print_json(rows)
        return
    done = [row for row in rows if row["partitions"]]
    if done:
        print_rows([{**row, "bytes": readable_bytes(row["bytes"])} for row in done], list(done[0]))
    left = len(rows) - len(done)
    click.echo(f"{len(done)} tables {'would be' if dry_run else 'were'} compacted, {left} need it not", err=True)


def _row(plan: "CompactionPlan") -> dict[str, Any]:
    return {
        "table": plan.table,
        "files": plan.files,
        "small": plan.small,
        "files after": plan.files_after,
        "partitions": len({tuple(each.files[0].partition.items()) for each in plan.bins}),
        "rows": sum(each.rows for each in plan.bins),
        "bytes": sum(each.bytes for each in plan.bins),
    }
