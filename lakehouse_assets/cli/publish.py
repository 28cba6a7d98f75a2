"""`lakehouse publish`: tables of the lake for readers of other formats."""

from dataclasses import asdict

import click

from lakehouse_assets.cli.completed import table_names
from lakehouse_assets.cli.output import json_option, print_json
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import load_settings


@click.command()
@click.argument("tables", nargs=-1, shell_complete=table_names)
@click.option("--all", "everything", is_flag=True, help="Every table that the lake has.")
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="How many snapshots stay readable; each holds back the vacuum of files that it shares.",
)
@json_option
def publish(tables: tuple[str, ...], everything: bool, keep: int, as_json: bool) -> None:
    """Publish TABLES as Iceberg, one snapshot each, sharing the data files.

    The catalog is `lakehouse` of pyiceberg's configuration (PYICEBERG_CATALOG__LAKEHOUSE__URI and the like), or SQLite
    in LAKEHOUSE_HOME/iceberg. A table that is published already as it is gets no new snapshot.
    """
    if bool(tables) == everything:
        raise click.UsageError("name the tables to publish, or give --all")
    from lakehouse_assets.lake.iceberg import open_catalog
    from lakehouse_assets.lake.iceberg import publish as publish_table
    from lakehouse_assets.lake.known_tables import known_tables
    from lakehouse_assets.lake.tables import Lake

    settings = load_settings()
    lake = Lake(settings.lake)
    made = {name: contract for name, contract in known_tables(lake).items() if lake.exists(contract)}
    if unknown := [name for name in tables if name not in made]:
        raise BadInputError(
            subject=f"table {unknown[0]}",
            seen="the lake has no table of that name",
            why="nothing was published",
            remedy="choose from `lakehouse tables`, or make it first with `lakehouse sync`",
        )
    catalog = open_catalog(settings.home)
    done = [publish_table(lake, made[name], catalog, keep=keep) for name in tables or made]
    if as_json:
        print_json([asdict(each) for each in done])
        return
    for each in done:
        files = f"{each.files_shared} files shared, {each.files_copied} copied, {each.files_removed} gone"
        click.echo(f"{each.table}: version {each.delta_version} is snapshot {each.snapshot}; {files}")
