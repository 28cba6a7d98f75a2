"""`lakehouse tables`: what the lake holds."""

from typing import Any

import click

from lakehouse_assets.cli.output import json_option, print_json, print_rows, readable_bytes
from lakehouse_assets.core.settings import Settings, load_settings


@click.command()
@json_option
def tables(as_json: bool) -> None:
    """List the tables with rows, files, bytes and Delta version, from the log alone."""
    rows = table_rows(load_settings())
    if as_json:
        print_json(rows)
    elif rows:
        print_table_rows(rows)
    else:
        click.echo("the lake has no tables yet; `lakehouse sync` makes them")


def table_rows(settings: Settings) -> list[dict[str, Any]]:
    from lakehouse_assets.contracts.catalog import CATALOG
    from lakehouse_assets.lake.tables import Lake
    from lakehouse_assets.sources.sql.ingested import ingested_contracts

    lake = Lake(settings.lake)
    rows: list[dict[str, Any]] = []
    for contract in (*CATALOG.values(), *ingested_contracts(settings)):
        if lake.exists(contract):
            size = lake.size(contract)
            rows.append(
                {
                    "table": contract.name,
                    "rows": size.rows,
                    "files": size.files,
                    "bytes": size.bytes,
                    "version": size.version,
                    "description": contract.description,
                }
            )
    return rows


def print_table_rows(rows: list[dict[str, Any]]) -> None:
    shown = [{**row, "bytes": readable_bytes(row["bytes"])} for row in rows]
    print_rows(shown, list(rows[0]))
