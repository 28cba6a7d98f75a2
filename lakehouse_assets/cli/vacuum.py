"""`lakehouse vacuum`: removes from disk what nobody needs, and tells who needs the rest."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.cli.completed import table_names
from lakehouse_assets.cli.output import json_option, print_json, print_rows, readable_bytes
from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.core.settings import load_settings

if TYPE_CHECKING:
    from lakehouse_assets.lake.vacuum import Vacuumed


@click.command()
@click.argument("tables", nargs=-1, shell_complete=table_names)
@click.option(
    "--older-than",
    "hours",
    type=click.FloatRange(min=0),
    default=168,
    metavar="HOURS",
    help="Safety age: what left its table later may be in use. Default: 168. Less only when nothing else runs.",
)
@click.option("--dry-run", is_flag=True, help="Tell what would be removed, and remove nothing.")
@json_option
def vacuum(tables: tuple[str, ...], hours: float, dry_run: bool, as_json: bool) -> None:
    """Remove files of TABLES, or of all tables, that neither the present version nor anybody who holds needs.

    Held are: what cursors, deliveries and streams read on from, the last published commits (LAKEHOUSE_KEEP_COMMITS,
    LAKEHOUSE_KEEP_DAYS), pinned commits (`lakehouse pin`), clones and Iceberg snapshots. Log entries go after
    LAKEHOUSE_KEEP_LOG_DAYS (30), unless a hold needs them.
    """
    from lakehouse_assets.assets import maintenance

    with Progress(quiet=as_json).step("look" if dry_run else "vacuum"):
        done = maintenance.vacuum(load_settings(), tables, age=timedelta(hours=hours), dry_run=dry_run)
    if as_json:
        print_json([_as_json(each) for each in done])
    else:
        _print(done, dry_run=dry_run)


def _as_json(each: "Vacuumed") -> dict[str, Any]:
    plan = each.plan
    return {
        "table": plan.table,
        "files_before": each.files_before,
        "bytes_before": each.bytes_before,
        "removed_files": len(plan.remove),
        "removed_bytes": plan.bytes,
        "young_files": plan.young,
        "log_entries_removed": plan.log_entries,
        "log_kept_from": plan.keep_log_from,
        "log_held_by": plan.log_held_by,
        "held": [{"by": one.by, "why": one.why, "files": one.files, "bytes": one.bytes} for one in plan.held],
    }


def _print(done: "list[Vacuumed]", *, dry_run: bool) -> None:
    rows = [
        {
            "table": each.plan.table,
            "on disk": each.files_before,
            "bytes": readable_bytes(each.bytes_before),
            "removed": len(each.plan.remove),
            "freed": readable_bytes(each.plan.bytes),
            "too young": each.plan.young,
            "log entries removed": each.plan.log_entries,
        }
        for each in done
    ]
    if rows:
        print_rows(rows, list(rows[0]))
    held = _held(done)
    if held:
        click.echo()
        print_rows(held, list(held[0]))
    freed = readable_bytes(sum(each.plan.bytes for each in done))
    files = sum(len(each.plan.remove) for each in done)
    click.echo(f"{files} files of {freed} {'would be' if dry_run else 'were'} removed", err=True)


def _held(done: "list[Vacuumed]") -> list[dict[str, Any]]:
    """What each holder keeps, over all tables; the largest first."""
    totals: dict[str, dict[str, Any]] = {}
    for each in done:
        for one in each.plan.held:
            row = totals.setdefault(one.by, {"held by": one.by, "files": 0, "bytes": 0, "why": one.why})
            row["files"] += one.files
            row["bytes"] += one.bytes
        if each.plan.log_held_by:
            by = each.plan.log_held_by
            row = totals.setdefault(by, {"held by": by, "files": 0, "bytes": 0, "why": "it needs the log"})
    ordered = sorted(totals.values(), key=lambda row: -row["bytes"])
    return [{**row, "bytes": readable_bytes(row["bytes"])} for row in ordered]
