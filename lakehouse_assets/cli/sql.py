"""`lakehouse sql`: ask the tables."""

from typing import Literal

import click

from lakehouse_assets.cli.output import print_csv, print_json, print_rows
from lakehouse_assets.core.settings import load_settings


@click.command()
@click.argument("query")
@click.option(
    "--format", "output_format", type=click.Choice(["table", "json", "csv"]), default="table", help="Default: table."
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def sql(query: str, output_format: Literal["table", "json", "csv"], as_json: bool) -> None:
    """Ask the tables in DuckDB's SQL, without a JVM.

    Example: lakehouse sql "SELECT language, count(*) FROM snapshots GROUP BY ALL"
    """
    from lakehouse_assets.lake.query import ask
    from lakehouse_assets.lake.tables import Lake

    with ask(Lake(load_settings().lake), query) as answer:
        match "json" if as_json else output_format:
            case "json":
                print_json(list(answer.rows))
            case "csv":
                print_csv(answer.rows, answer.columns)
            case "table":
                rows = list(answer.rows)
                print_rows(rows, answer.columns)
                click.echo(f"{len(rows)} rows", err=True)
