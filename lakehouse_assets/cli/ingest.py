"""`lakehouse ingest` and `lakehouse deliver`: tables in from databases, and out to them."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.cli.main import print_error
from lakehouse_assets.cli.output import json_option, print_json
from lakehouse_assets.core.errors import BadInputError, LakehouseError
from lakehouse_assets.core.settings import load_settings

if TYPE_CHECKING:
    from lakehouse_assets.sources.files.landing import LandedReport
    from lakehouse_assets.sources.sql.ingest import Landing


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME…]")
@click.option("--all", "everything", is_flag=True, help="Every table that the ingest folder names.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Print the query with its values and the plan, or the files to be read, and do nothing.",
)
@click.option(
    "--force-first-run", is_flag=True, help="Read all rows as if for the first time; what is gone is deleted."
)
@json_option
@click.pass_context
def ingest(
    ctx: click.Context, names: tuple[str, ...], everything: bool, dry_run: bool, force_first_run: bool, as_json: bool
) -> None:
    """Bring tables up to their sources by high-water mark, then deliver them where the ingest folder says so.

    The tables are independent of each other: one that fails is told of, and the others are done. A file that cannot be
    read does not keep the others, but the exit code is 1 until it is mended or gone.
    """
    from lakehouse_assets.cli.progress import Progress
    from lakehouse_assets.contracts.ingest import Ingest
    from lakehouse_assets.core.diagnostics import listening
    from lakehouse_assets.lake.tables import Lake
    from lakehouse_assets.sources.files.waiting import plan_landing
    from lakehouse_assets.sources.sql.ingest import decide
    from lakehouse_assets.sources.sql.inspection import inspect
    from lakehouse_assets.sources.sql.project import chosen_source, load_project
    from lakehouse_assets.sources.sql.whole_way import deliver_table, ingest_table, land_table

    if everything == bool(names):
        raise click.UsageError("give NAMEs or --all")
    settings = load_settings()
    project = load_project(settings)
    chosen = [chosen_source(project, name) for name in names or project.tables]

    def plan(name: str) -> dict[str, Any]:
        each, lake = chosen_source(project, name), Lake(settings.lake)
        if not isinstance(each, Ingest):
            waiting = plan_landing(lake, each)
            if not as_json:
                click.echo(str(waiting))
            return asdict(waiting)
        decided = decide(each, inspect(lake, project, each), force_first_run=force_first_run)
        if not as_json:
            click.echo(str(decided))
        return {"name": name, "mode": decided.mode, "reason": decided.reason, "query": decided.query} | {
            "mark": str(decided.mark),
            "values": {key: str(value) for key, value in decided.values.items()},
        }

    def carry(name: str) -> dict[str, Any]:
        each = chosen_source(project, name)
        if isinstance(each, Ingest):
            done = ingest_table(settings, project, each, force_first_run=force_first_run)
            told, text = _landing(name, done), _landed(name, done)
        else:
            report = land_table(settings, each)
            told, text = asdict(report), _files(report)
        if not as_json:
            click.echo(text)
        return told

    def send(delivery: str) -> dict[str, Any]:
        row = deliver_table(settings, project, next(each for each in project.deliver if each.name == delivery))
        if not as_json:
            click.echo(_delivered(row))
        return row

    with listening(Progress(quiet=as_json).on_diagnostic):
        results, failed = _each([each.name for each in chosen], plan if dry_run else carry, as_json=as_json)
        failed = failed or any(each.get("bad") for each in results)
        for each in results if not dry_run else ():
            if "error" not in each:
                targets = [delivery.name for delivery in project.deliveries_of(each["name"])]
                each["deliveries"], unsent = _each(targets, send, as_json=as_json)
                failed = failed or unsent
    if as_json:
        print_json(results)
    ctx.exit(1 if failed else 0)


@click.command()
@click.argument("tables", nargs=-1, metavar="[TABLE…]")
@click.option("--all", "every_table", is_flag=True, help="Every delivery that the ingest folder names.")
@click.option("--everything", is_flag=True, help="Send all rows, not only what changed.")
@json_option
@click.pass_context
def deliver(ctx: click.Context, tables: tuple[str, ...], every_table: bool, everything: bool, as_json: bool) -> None:
    """Send what changed in tables of the lake to the databases that the ingest folder names for them."""
    from lakehouse_assets.sources.sql.project import load_project
    from lakehouse_assets.sources.sql.whole_way import deliver_table

    if every_table == bool(tables):
        raise click.UsageError("give TABLEs or --all")
    settings = load_settings()
    project = load_project(settings)
    chosen = {each.name: each for each in project.deliver if every_table or each.asset in tables}
    missing = [name for name in tables if not project.deliveries_of(name)]
    if missing:
        raise BadInputError(
            subject=f"delivery of {missing[0]}",
            seen="the ingest folder names none",
            why="there is nowhere to send it",
            remedy="write it into a file there, under `deliver`",
        )

    def send(name: str) -> dict[str, Any]:
        row = deliver_table(settings, project, chosen[name], everything=everything)
        if not as_json:
            click.echo(_delivered(row))
        return row

    results, failed = _each(list(chosen), send, as_json=as_json)
    if as_json:
        print_json(results)
    ctx.exit(1 if failed else 0)


def _each(names: Sequence[str], action: Callable[[str], dict[str, Any]], *, as_json: bool) -> tuple[list[Any], bool]:
    """Do all of them, whichever fail."""
    results: list[dict[str, Any]] = []
    failed = False
    for name in names:
        try:
            results.append(action(name))
        except LakehouseError as error:
            failed = True
            results.append({"name": name, "error": str(error)})
            print_error(error, as_json=as_json)
    return results, failed


def _landing(name: str, done: "Landing") -> dict[str, Any]:
    return {
        "name": name,
        "mode": done.plan.mode,
        "reason": done.plan.reason,
        "mark": str(done.mark),
        "warnings": list(done.plan.warnings),
        "rows_read": done.rows_read,
        "rows_late": done.rows_late,
        "gaps": [str(gap) for gap in done.gaps],
        **{key: done.count(f"rows_{key}") for key in ("inserted", "updated", "deleted")},
    }


def _landed(name: str, done: "Landing") -> str:
    told = _landing(name, done)
    late = f", {done.rows_late:,} of them late" if done.rows_late else ""
    return (
        f"{name}: {told['inserted']:,} rows inserted, {told['updated']:,} updated, {told['deleted']:,} deleted "
        f"({done.rows_read:,} read{late}; {done.plan.mode}: {done.plan.reason}); mark {told['mark']}"
    )


def _files(done: "LandedReport") -> str:
    bad = "".join(f"\n  set aside: {each}" for each in done.bad)
    return (
        f"{done.name}: {done.rows_inserted:,} rows inserted, {done.rows_updated:,} updated, {done.rows_deleted:,} "
        f"deleted; {done.landed:,} files or pages landed, {done.unchanged:,} unchanged, {len(done.bad):,} bad{bad}"
    )


def _delivered(row: dict[str, Any]) -> str:
    from lakehouse_assets.lake.delivery_story import said_compared

    why = f": {row['reason']}" if row["reason"] else ""
    return (
        f"{row['delivery']}: {row['rows_inserted']:,} rows inserted, {row['rows_updated']:,} updated, "
        f"{row['rows_deleted']:,} deleted, {row['rows_unchanged']:,} unchanged ({row['way']}{why}); "
        f"{said_compared(row)}"
    )
