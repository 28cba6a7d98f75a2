"""`lakehouse marks`: how far the sources of ingested tables have been read."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.cli.output import json_option, print_json, print_rows
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import load_settings

if TYPE_CHECKING:
    from lakehouse_assets.plan.marks import Mark

_COLUMNS = ("name", "timestamp", "id", "snapshot", "moved_at", "run_id", "reason", "by")
_reason = click.option("--reason", required=True, help="Why; kept with the mark.")


@click.group()
def marks() -> None:
    """Show and set high-water marks. Every move is kept, by whom and why."""


@marks.command()
@click.argument("name", required=False)
@click.option("--history", is_flag=True, help="All moves of the mark, newest first.")
@json_option
def show(name: str | None, history: bool, as_json: bool) -> None:
    """Show the mark of a table, or of all."""
    from lakehouse_assets.lake.tables import Lake
    from lakehouse_assets.sources.sql.mark_history import mark_moves
    from lakehouse_assets.sources.sql.project import chosen_ingest, load_project

    settings = load_settings()
    project = load_project(settings)
    chosen = [chosen_ingest(project, name)] if name else project.ingest
    rows: list[dict[str, Any]] = []
    for each in chosen:
        moves = mark_moves(Lake(settings.lake), each.name)
        rows += moves if history else moves[:1]
    if as_json:
        print_json(rows)
    elif rows:
        print_rows(rows, _COLUMNS)
    else:
        click.echo("no mark yet; `lakehouse ingest` makes them")


@marks.command("set")
@click.argument("name")
@click.option("--timestamp", type=click.DateTime(), help="Rows from this moment on (UTC) are read next.")
@click.option("--id", "number", type=int, help="Rows from this id on are read next.")
@_reason
@json_option
def set_(name: str, timestamp: datetime | None, number: int | None, reason: str, as_json: bool) -> None:
    """Set the mark of a table by hand."""
    if timestamp is None and number is None:
        raise click.UsageError("give --timestamp, --id or both")
    _move(name, timestamp.replace(tzinfo=UTC) if timestamp else None, number, reason, as_json=as_json)


@marks.command()
@click.argument("name")
@_reason
@json_option
def reset(name: str, reason: str, as_json: bool) -> None:
    """Forget the mark: the next run reads everything again. Rows that are equal are not rewritten."""
    _move(name, None, None, reason, as_json=as_json)


def _move(name: str, timestamp: datetime | None, number: int | None, reason: str, *, as_json: bool) -> None:
    import uuid

    from lakehouse_assets.lake.tables import Lake
    from lakehouse_assets.plan.marks import Mark
    from lakehouse_assets.sources.sql.ingest import set_mark
    from lakehouse_assets.sources.sql.ingested import stored_contract
    from lakehouse_assets.sources.sql.project import chosen_ingest, load_project
    from lakehouse_assets.sources.sql.whole_way import upsert_service

    settings = load_settings()
    ingest = chosen_ingest(load_project(settings), name)
    lake = Lake(settings.lake)
    contract = stored_contract(lake, ingest)
    if contract is None:
        raise BadInputError(
            subject=f"mark of {name}",
            seen="the table was never ingested",
            why="a mark without rows behind it would leave all earlier rows out",
            remedy=f"`lakehouse ingest {name}` first",
        )
    given = {name for name, value in (("timestamp", timestamp), ("id", number)) if value is not None}
    wanted = {name for name in ("timestamp", "id") if getattr(ingest, name)}
    if given and given != wanted:
        raise BadInputError(
            subject=f"mark of {name}",
            seen=f"its strategy {ingest.strategy} goes by {' and '.join(sorted(wanted)) or 'all rows, without a mark'}",
            why="the next run could not go by what was given, and would read everything",
            remedy=f"give {' and '.join(f'--{each}' for each in sorted(wanted))}"
            if wanted
            else "leave it: each run compares all rows",
        )
    clock = datetime.fromtimestamp(0, UTC)
    mark = Mark(timestamp=timestamp, id=number, clock=clock, columns="", reason=reason, by=_user())
    set_mark(upsert_service(settings), contract, ingest, mark, run_id=f"mark-{uuid.uuid4().hex}")
    if as_json:
        print_json({"name": name, "timestamp": timestamp, "id": number, "reason": reason})
    else:
        click.echo(f"{name}: {_told(mark)}")


def _user() -> str:
    """Who runs the command, as the system knows it; by number where it knows no name."""
    import getpass
    import os

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _told(mark: "Mark") -> str:
    return f"mark set to {mark}" if mark.timestamp or mark.id is not None else "mark reset"
