"""The contracts of ingested, landed and streamed tables that the lake has, from the ingest folder and the tables."""

from typing import Any

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.ingest import Ingest, SqlProject, ingest_contract
from lakehouse_assets.contracts.streams import StreamSpec, StreamTable
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.table_columns import marked_numbers
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.tables import Lake


def ingested_contracts(settings: Settings, lake: Lake | None = None) -> tuple[TableContract, ...]:
    """In the order of the files; without a folder nothing is loaded for it. `lake` is by default the settings' own."""
    if not settings.ingest.is_dir():
        return ()
    from lakehouse_assets.sources.sql.project import load_project

    lake, project = lake or Lake(settings.lake), load_project(settings)
    names = [*project.tables, *(each.name for each in project.streams)]
    found = [table_contract(lake, project, name) for name in names]
    return tuple(each for each in found if each is not None and lake.exists(each))


def table_contract(lake: Lake, project: SqlProject, name: str) -> TableContract | None:
    """The contract of a table of the lake that is no model, as far as that is known by now; else None."""
    from lakehouse_assets.sources.files.landing import stored_landed_contract

    if name in CATALOG:
        return CATALOG[name]
    if (ingest := next((each for each in project.ingest if each.name == name), None)) is not None:
        return stored_contract(lake, ingest)
    if (landed := next((each for each in (*project.files, *project.http) if each.name == name), None)) is not None:
        return stored_landed_contract(lake, landed)
    stream = next((each for each in project.streams if each.name == name), None)
    return None if stream is None else streamed_contract(lake, project, stream)


def streamed_contract(lake: Lake, project: SqlProject, stream: StreamSpec) -> TableContract | None:
    """The contract of a stream's table; None if the table that it reads was never made."""
    if not isinstance(stream.source, StreamTable):
        return stream.contract_over(None)
    source = table_contract(lake, project, stream.source.table)
    return None if source is None else stream.contract_over(source)


def stored_contract(lake: Lake, ingest: Ingest) -> TableContract | None:
    """The contract of the table as the lake has it, without asking the source; None if it was never made."""
    probe = ingest_contract(ingest, dict.fromkeys(ingest.key, "string"))
    if not lake.exists(probe):
        return None
    table = lake.open(probe)
    types: dict[str, Any] = dict(table_facts(table, probe).columns)
    return ingest_contract(ingest, types, marked_numbers(table))
