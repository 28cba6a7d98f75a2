"""The tables that models may read beside each other: those of the catalog, and whatever else was landed in the lake."""

import re
from collections.abc import Mapping
from dataclasses import replace

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.table import Column, ColumnType, TableContract
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.model_tables import named
from lakehouse_assets.lake.table_columns import marked_numbers
from lakehouse_assets.lake.table_facts import type_name
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.alignment import known_type

VERSION_TABLE = re.compile(r"[a-z0-9_]+__[0-9a-f]{16}")
"""Names of tables that hold versions of models: these are read by the models' own names."""


def known_tables(lake: Lake) -> Mapping[str, TableContract]:
    """All of them by name."""
    return {**CATALOG, **landed_tables(lake)}


def landed_tables(lake: Lake) -> dict[str, TableContract]:
    """Tables without a contract of ours: their columns are what their logs say, and what their ingest says of them."""
    from lakehouse_assets.sources.sql.ingested import ingested_contracts

    folders = sorted(lake.root.iterdir()) if lake.root.is_dir() else []
    names = [each.name for each in folders if (each / "_delta_log").is_dir() and not each.name.startswith(".")]
    landed = [name for name in names if name not in CATALOG and not VERSION_TABLE.fullmatch(name)]
    if not landed:
        return {}
    found = {name: _by_its_log(lake, name) for name in landed if lake.exists(named(name))}
    return found | {each.name: each for each in ingested_contracts(load_settings(), lake)}


def _by_its_log(lake: Lake, name: str) -> TableContract:
    table = lake.open(named(name))
    places = table.metadata().partition_columns
    types: dict[str, ColumnType] = {
        each.name: known_type(named(name), each.name, type_name(each.type)) for each in table.schema().fields
    }
    numbers = marked_numbers(table)
    columns = tuple(
        Column(name=each, type=kind, description="", nullable=each not in places, number=each in numbers)
        for each, kind in types.items()
    )
    # What tells its rows apart is not known; nobody writes by this contract.
    key = replace(columns[0], nullable=False)
    return TableContract(
        name=name,
        description="",
        columns=(key, *columns[1:]),
        key=(key.name,),
        partition_by=tuple(places),
        strategy="upsert",
    )
