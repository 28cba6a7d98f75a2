"""`lakehouse sql`: ask the tables."""

from typing import TYPE_CHECKING, Literal

import click

from lakehouse_assets.cli.output import print_csv, print_json, print_notes, print_rows
from lakehouse_assets.core.settings import Settings, load_settings

if TYPE_CHECKING:
    from lakehouse_assets.lake.query import Tables


@click.command()
@click.argument("query")
@click.option(
    "--format", "output_format", type=click.Choice(["table", "json", "csv"]), default="table", help="Default: table."
)
@click.option("--at", "commit", metavar="REPO@COMMIT", help="The repository's graph as it was at this commit.")
@click.option("--env", "environment", help="Environment to ask in: its models, and tables as it shows them.")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
def sql(
    query: str,
    output_format: Literal["table", "json", "csv"],
    commit: str | None,
    environment: str | None,
    as_json: bool,
) -> None:
    """Ask the tables in DuckDB's SQL, without a JVM.

    Example: lakehouse sql "SELECT language, count(*) FROM snapshots GROUP BY ALL"

    With --at every table of the graph is read at the version that tells of the commit, and holds the rows of that
    repository alone. COMMIT is an id, the beginning of one, a branch or a tag.
    """
    from lakehouse_assets.lake.query import ask, tables_now
    from lakehouse_assets.lake.tables import Lake
    from lakehouse_assets.sources.sql.ingested import ingested_contracts

    settings = load_settings()
    lake = Lake(settings.lake)
    if commit is not None and environment is not None:
        raise click.UsageError("--at and --env say different things of the same tables")
    if commit is None:
        tables = tables_now(lake, query, ingested_contracts(settings))
    else:
        tables = _tables_at(settings, commit, query)
    if environment is not None:
        from lakehouse_assets.cli.progress import Progress
        from lakehouse_assets.core.diagnostics import listening
        from lakehouse_assets.lake.environment_reads import environment_tables
        from lakehouse_assets.lake.view_rows import ViewReader

        with listening(Progress().on_diagnostic):
            tables = environment_tables(lake, query, environment, ViewReader.of(settings))
    print_notes(tables.notes)
    with ask(lake, query, tables) as answer:
        match "json" if as_json else output_format:
            case "json":
                print_json(list(answer.rows))
            case "csv":
                print_csv(answer.rows, answer.columns)
            case "table":
                rows = list(answer.rows)
                print_rows(rows, answer.columns)
                click.echo(f"{len(rows)} rows", err=True)


def _tables_at(settings: Settings, commit: str, query: str) -> "Tables":
    from lakehouse_assets.assets.published import find_published
    from lakehouse_assets.lake.query import tables_at
    from lakehouse_assets.lake.tables import Lake

    return tables_at(Lake(settings.lake), find_published(settings, commit), query)
