"""Keeping tables small and quick: for the command and for Dagster alike."""

from collections.abc import Sequence
from datetime import timedelta

from lakehouse_assets.assets.holders import all_holds
from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.core.text import nearest
from lakehouse_assets.lake.compaction import compact_table, planned
from lakehouse_assets.lake.environment_holds import model_tables
from lakehouse_assets.lake.maintained import record
from lakehouse_assets.lake.pins import unvacuumed
from lakehouse_assets.lake.session import runtime_for
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.vacuum import Vacuumed, look, vacuum_table
from lakehouse_assets.plan.compaction import ENOUGH, CompactionPlan
from lakehouse_assets.sources.sql.ingested import ingested_contracts

SAFETY_AGE = timedelta(days=7)
"""What was let go of more recently may be in the hands of a reader, or of a writer that has not committed yet."""


def optimize(
    settings: Settings,
    names: Sequence[str] = (),
    *,
    enough: int = ENOUGH,
    dry_run: bool = False,
) -> list[CompactionPlan]:
    """Compact the named tables, or all, where it is worth it."""
    lake = Lake(settings.lake)
    return [
        planned(lake, contract, enough=enough)
        if dry_run
        else compact_table(lake, contract, spark=lambda: runtime_for(settings).session, enough=enough)
        for contract in tables_named(settings, names)
    ]


def vacuum(
    settings: Settings,
    names: Sequence[str] = (),
    *,
    age: timedelta = SAFETY_AGE,
    dry_run: bool = False,
) -> list[Vacuumed]:
    """Remove what nobody needs of the named tables, or of all. Who holds what is asked once, before anything goes."""
    lake, log_age = Lake(settings.lake), timedelta(days=settings.keep_log_days)
    contracts = tables_named(settings, names)
    done: list[Vacuumed] = []
    with unvacuumed(lake):
        holds = all_holds(settings)
        try:
            for contract in contracts:
                done.append((look if dry_run else vacuum_table)(lake, contract, holds, age=age, log_age=log_age))
        finally:  # also what was removed before one failed; in one commit, for a vacuum is of all tables
            record(lake, *(each.done for each in done if each.done is not None))
    return done


def tables_named(settings: Settings, names: Sequence[str] = ()) -> list[TableContract]:
    """The contracts of the named tables, or of all that are there: also models', and what the ingest folder names.

    A table that is in the lake and that nobody names is left alone: what of it is sensitive is not known.
    """
    lake = Lake(settings.lake)
    known = {**CATALOG, **{each.name: each for each in ingested_contracts(settings)}, **model_tables(lake)}
    for name in names:
        if name not in known:
            raise BadInputError(
                subject=f"table {name!r}",
                seen="there is no table of that name",
                why="nothing was done to any table",
                remedy=nearest(name, known) or "`lakehouse tables` lists them",
            )
    return [each for each in known.values() if (not names or each.name in names) and lake.exists(each)]
