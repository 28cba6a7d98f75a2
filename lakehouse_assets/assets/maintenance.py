"""Keeping tables small and quick: for the command and for Dagster alike."""

from collections.abc import Sequence
from datetime import timedelta
from difflib import get_close_matches

from lakehouse_assets.assets.holders import all_holds
from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.compaction import compact_table, planned
from lakehouse_assets.lake.environment_holds import model_tables
from lakehouse_assets.lake.maintained import record
from lakehouse_assets.lake.pins import unvacuumed
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.vacuum import Vacuumed, look, vacuum_table
from lakehouse_assets.plan.compaction import ENOUGH, CompactionPlan

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
    do = planned if dry_run else compact_table
    return [do(lake, contract, enough=enough) for contract in tables_named(lake, names)]


def vacuum(
    settings: Settings,
    names: Sequence[str] = (),
    *,
    age: timedelta = SAFETY_AGE,
    dry_run: bool = False,
) -> list[Vacuumed]:
    """Remove what nobody needs of the named tables, or of all. Who holds what is asked once, before anything goes."""
    lake = Lake(settings.lake)
    contracts = tables_named(lake, names)
    done: list[Vacuumed] = []
    with unvacuumed(lake):
        holds = all_holds(settings)
        try:
            for contract in contracts:
                done.append((look if dry_run else vacuum_table)(lake, contract, holds, age=age))
        finally:  # also what was removed before one failed; in one commit, for a vacuum is of all tables
            record(lake, *(each.done for each in done if each.done is not None))
    return done


def tables_named(lake: Lake, names: Sequence[str]) -> list[TableContract]:
    """The contracts of the named tables, or of all that are there, models' among them."""
    known = {**CATALOG, **model_tables(lake)}
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            raise BadInputError(
                subject=f"table {name!r}",
                seen="there is no table of that name",
                why="nothing was done to any table",
                remedy=f"did you mean {near[0]!r}?" if near else "`lakehouse tables` lists them",
            )
    return [each for each in known.values() if (not names or each.name in names) and lake.exists(each)]
