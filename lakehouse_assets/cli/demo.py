"""`lakehouse demo`: from nothing to a lake that can be asked, and where to look."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.cli.output import print_rows
from lakehouse_assets.core.settings import PROJECT_ROOT, Settings, load_settings

if TYPE_CHECKING:
    from lakehouse_assets.cli.runs import RunResult


@click.command()
@click.argument("location", metavar="[PATH_OR_URL]", required=False)
@click.option("--name", help="Name to register it under (default: the last part of the path or URL).")
@click.pass_context
def demo(ctx: click.Context, location: str | None, name: str | None) -> None:
    """Register a repository (default: this project's own), sync it, and show what the lake holds."""
    from lakehouse_assets.cli.repo import register
    from lakehouse_assets.cli.sync import sync_repositories

    settings = load_settings()
    source = location or str(PROJECT_ROOT)
    chosen = name or name_of(source)
    click.echo(f"Syncing {source} as {chosen}")
    register(settings, [(chosen, source)], update=True)
    plan, results = sync_repositories(settings, (chosen,))
    for error in plan.errors.values():
        raise error
    _summary(settings, results, str(plan.engine(settings)) if plan.stale else "")


def name_of(source: str) -> str:
    """A fit name from a path or URL: its last part without `.git`."""
    last = re.split(r"[/:]", source.rstrip("/"))[-1] or Path(source).resolve().name
    if last in (".", ".."):
        last = Path(source).resolve().name
    return re.sub(r"[^A-Za-z0-9._-]+", "-", last.removesuffix(".git")).strip("-._") or "repository"


def _summary(settings: Settings, results: "list[RunResult]", engine: str) -> None:
    from lakehouse_assets.cli.tables import print_table_rows, table_rows
    from lakehouse_assets.lake.query import ask
    from lakehouse_assets.lake.tables import Lake

    def show(title: str, query: str) -> None:
        with ask(Lake(settings.lake), query) as answer:
            rows = list(answer.rows)
        click.echo(f"\n{title}")
        print_rows(rows, answer.columns)

    show(
        "Repositories",
        "SELECT r.repo, any_value(location) AS location, count(*) AS commits, "
        "(SELECT count(*) FROM snapshots s WHERE s.repo = r.repo) AS files "
        "FROM repositories r JOIN commits USING (repo) GROUP BY r.repo ORDER BY r.repo",
    )
    show(
        "Languages",
        "SELECT coalesce(language, '(none)') AS language, count(*) AS files, sum(size)::BIGINT AS bytes, "
        "count(*) FILTER (is_test) AS tests FROM snapshots GROUP BY ALL ORDER BY files DESC, language LIMIT 12",
    )
    show(
        "Most called",
        "SELECT d.repo, d.qualified_name, CAST(p.value AS INTEGER) AS callers, d.path, d.line FROM global_props p "
        "JOIN definitions d USING (repo, path, def_id) WHERE p.name = 'callers' "
        "ORDER BY callers DESC, d.qualified_name LIMIT 8",
    )
    click.echo("\nTables")
    print_table_rows(table_rows(settings))
    if results:
        click.echo("\nSeconds by asset")
        rows: list[dict[str, Any]] = [
            {"asset": asset, "rows changed": rows, "seconds": result.seconds.get(asset)}
            for result in results
            for asset, rows in result.rows.items()
        ]
        print_rows(rows, ["asset", "rows changed", "seconds"])
        click.echo(f"\nMade by {engine}")
        for spark in filter(None, (result.spark for result in results)):
            click.echo(f"  {spark}")
    else:
        click.echo("\nNothing had changed: no run was needed.")
    click.echo(
        "\nWhere to look\n"
        "  ask the graph    .venv/bin/lakehouse callers NAME      (or callees, importers, references, definitions)\n"
        '  ask the tables   .venv/bin/lakehouse sql "SELECT kind, count(*) FROM edges GROUP BY ALL"\n'
        "  open the UI      .venv/bin/dagster dev      then http://localhost:3000\n"
        f"  the lake         {settings.tables or settings.lake}"
    )
