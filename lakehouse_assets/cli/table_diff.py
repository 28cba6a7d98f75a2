"""`lakehouse table-diff`: two tables compared by key."""

from dataclasses import asdict

import click

from lakehouse_assets.cli.output import json_option, print_json, print_rows
from lakehouse_assets.core.settings import load_settings

_KINDS = {"only_first": "only in A", "only_second": "only in B", "changed": "changed, A (1) and B (2)"}


@click.command("table-diff")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option(
    "--on", multiple=True, metavar="COLUMN", help="Column of the key; as often as needed. Default: the table's key."
)
@click.option("--limit", type=click.IntRange(0, 1000), default=5, help="Rows of each kind to show (default: 5).")
@json_option
def table_diff(first: str, second: str, on: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Compare the rows of A with those of B by key. Each is ENVIRONMENT:NAME, NAME@VERSION or NAME.

    \b
    Example:
      lakehouse table-diff prod:dead_code dev:dead_code
    """
    from lakehouse_assets.lake.table_diff import table_diff as compared
    from lakehouse_assets.lake.tables import Lake
    from lakehouse_assets.lake.view_rows import ViewReader

    settings = load_settings()
    found = compared(Lake(settings.lake), first, second, views=ViewReader.of(settings), on=on, limit=limit)
    if as_json:
        print_json(asdict(found))
        return
    click.echo(
        f"{found.equal:,} rows equal, {found.changed:,} changed, "
        f"{found.only_first:,} only in {first}, {found.only_second:,} only in {second}"
    )
    for text, columns in (("A", found.columns_only_first), ("B", found.columns_only_second)):
        if columns:
            click.echo(f"columns only in {text}: {', '.join(columns)}")
    for column, count in found.changed_by_column.items():
        click.echo(f"  {column}: differs in {count:,} rows")
    for kind, rows in found.samples.items():
        if rows:
            click.echo(f"\n{_KINDS[kind]}")
            print_rows(rows, list(rows[0]))
