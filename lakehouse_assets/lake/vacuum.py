"""Removes from disk what a plan found that nobody needs: data files, feed files, log entries.

The engines' own vacuums cannot be asked for it (seen with deltalake 1.6.6; `test_vacuum.py` notices if that changes):

- delta-rs keeps whole versions (`keep_versions`), while holds are of one repository's partition: with many repositories
  each one's last commits would keep the files of all. Its full vacuum takes every old file of `_change_data`, whoever
  still reads that feed; its lite one takes none, nor a file that no commit names.
- delta-rs' `cleanup_metadata` goes by `delta.logRetentionDuration` alone, a property of the table: to set it to what is
  held now is a change of metadata, with which every writer at work on another partition conflicts.
- Spark's `VACUUM … USING INVENTORY` takes the plan's list, but a lake that needs no JVM would need one to be cleaned.

Invariant: the plan is made and carried out while no writer of ours is at the table and nobody can take a new hold.
Log entries go oldest first and files before them, so that a kill leaves nothing that the log still tells of.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.effects import reached
from lakehouse_assets.core.settings import DEFAULT_KEEP_LOG_DAYS
from lakehouse_assets.lake.concurrency import holding
from lakehouse_assets.lake.data_files import remove_files
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.maintained import Done
from lakehouse_assets.lake.table_log import files_on_disk, table_log
from lakehouse_assets.lake.tables import LOG_CLEANUP, Lake
from lakehouse_assets.plan.holds import Hold, holds_of
from lakehouse_assets.plan.vacuum import DiskFile, VacuumPlan, plan_vacuum

LOG_AGE = timedelta(days=DEFAULT_KEEP_LOG_DAYS)


@dataclass(frozen=True, kw_only=True)
class Vacuumed:
    """What a plan came to; `disk` is what was there before."""

    plan: VacuumPlan
    files_before: int
    bytes_before: int
    done: Done | None = None
    """The account of it, to be recorded; None if it was only looked at."""


def look(
    lake: Lake, contract: TableContract, holds: Sequence[Hold], *, age: timedelta, log_age: timedelta = LOG_AGE
) -> Vacuumed:
    """What a vacuum would remove now."""
    plan, disk = _planned(lake, contract, holds, age, log_age)
    return _told(plan, disk)


def vacuum_table(
    lake: Lake, contract: TableContract, holds: Sequence[Hold], *, age: timedelta, log_age: timedelta = LOG_AGE
) -> Vacuumed:
    """Remove what nobody needs; call it inside `pins.unvacuumed`, with holds that were taken there."""
    started = time.perf_counter()
    with holding(lake.locks, contract, ()):
        plan, disk = _planned(lake, contract, holds, age, log_age)
        reached("vacuum: before files")
        remove_files(lake.path(contract), plan.remove)
        reached("vacuum: after files")
        _clean_log(lake, contract, plan)
        reached("vacuum: after log")
        version = lake.open(contract).version()
    seen = _told(plan, disk)
    done = Done(
        asset=contract.name,
        action="vacuum",
        version=version,
        files_before=seen.files_before,
        files_after=seen.files_before - len(plan.remove),
        bytes_freed=plan.bytes,
        log_entries=plan.log_entries,
        held={each.by: {"files": each.files, "bytes": each.bytes} for each in plan.held},
        seconds=time.perf_counter() - started,
    )
    report("vacuum", contract.name, "removed", files=len(plan.remove), bytes=plan.bytes)
    return replace(seen, done=done)


def _told(plan: VacuumPlan, disk: dict[str, DiskFile]) -> Vacuumed:
    return Vacuumed(plan=plan, files_before=len(disk), bytes_before=sum(file.size for file in disk.values()))


def _planned(
    lake: Lake, contract: TableContract, holds: Sequence[Hold], age: timedelta, log_age: timedelta
) -> tuple[VacuumPlan, dict[str, DiskFile]]:
    disk = files_on_disk(lake.path(contract))
    now = datetime.now(UTC)
    plan = plan_vacuum(
        table_log(lake, contract),
        disk,
        holds_of(contract.name, holds),
        before=_milliseconds(now - age),
        log_before=_milliseconds(now - max(age, log_age)),
    )
    return plan, disk


def _clean_log(lake: Lake, contract: TableContract, plan: VacuumPlan) -> None:
    table = lake.open(contract)
    if table.metadata().configuration.get(LOG_CLEANUP) != "false":  # a table from before holds were asked
        table.alter.set_table_properties({LOG_CLEANUP: "false"})
    if not plan.log_entries:
        return
    Ledger(lake).record(contract)  # what only the entries know
    log = lake.path(contract) / "_delta_log"
    for path in sorted(log.iterdir()):
        if path.name[:20].isdecimal() and int(path.name[:20]) < plan.keep_log_from:
            path.unlink(missing_ok=True)


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
