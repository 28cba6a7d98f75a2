"""The contracts of ingested, landed and streamed tables that the lake has, from the ingest folder and the tables."""

from typing import Any

from lakehouse_assets.contracts.ingest import Ingest, ingest_contract
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.tables import Lake


def ingested_contracts(settings: Settings, lake: Lake | None = None) -> tuple[TableContract, ...]:
    """In the order of the files; without a folder nothing is loaded for it. `lake` is by default the settings' own."""
    if not settings.ingest.is_dir():
        return ()
    from lakehouse_assets.sources.files.landing import stored_landed_contract
    from lakehouse_assets.sources.sql.project import load_project

    lake, project = lake or Lake(settings.lake), load_project(settings)
    found = [stored_contract(lake, each) for each in project.ingest]
    found += [stored_landed_contract(lake, each) for each in (*project.files, *project.http)]
    found += [each.contract for each in project.streams if lake.exists(each.contract)]
    return tuple(each for each in found if each is not None)


def stored_contract(lake: Lake, ingest: Ingest) -> TableContract | None:
    """The contract of the table as the lake has it, without asking the source; None if it was never made."""
    probe = ingest_contract(ingest, dict.fromkeys(ingest.key, "string"))
    if not lake.exists(probe):
        return None
    types: dict[str, Any] = dict(table_facts(lake.open(probe), probe).columns)
    return ingest_contract(ingest, types)
