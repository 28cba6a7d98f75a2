"""What a run has to read from git for an asset: nothing, what changed since the stored rows, or everything.

Invariant: rows are left alone only where a part of the key says that they are what a clean read gives. If nothing but
the commit differs, the commits are compared; if code or settings differ, or there are no rows, all is read.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.ledger import Entry, EntryKey
from lakehouse_assets.plan.row_hash import Content
from lakehouse_assets.plan.staleness import MaterializationKey, stale_because
from lakehouse_assets.sources.keys import git_key
from lakehouse_assets.sources.reads import Reading, taken_up_to
from lakehouse_assets.sources.snapshot import SnapshotChanges, read_snapshot_changes
from lakehouse_assets.sources.trees import NotComparable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MANY_FILES = 5_000
"""Beyond so many changed files naming them costs more than comparing all."""

Latest = Mapping[EntryKey, Entry]


@dataclass(frozen=True, kw_only=True)
class Work:
    """The run's repositories, each once."""

    anew: tuple[Reading, ...]
    onward: tuple[Reading, ...]
    """These have the commit that their stored rows are of."""
    untouched: tuple[Entry, ...]


def key_of(contract: TableContract, reading: Reading) -> MaterializationKey:
    head = reading.head
    return git_key(contract, reading.repository, head.commit_sha, boundary=head.boundary)


def keys_of(contract: TableContract, readings: Iterable[Reading]) -> tuple[MaterializationKey, ...]:
    return tuple(key_of(contract, reading) for reading in readings)


def work_of(contract: TableContract, readings: Sequence[Reading], latest: Latest) -> Work:
    """Sort the readings by what their stored key leaves to do."""
    anew: list[Reading] = []
    onward: list[Reading] = []
    untouched: list[Entry] = []
    for reading in readings:
        stored = latest.get((contract.name, reading.name))
        if stored is None or not stored.cursor:  # never made, or removed since
            anew.append(reading)
            continue
        reasons = stale_because(key_of(contract, reading), stored.key)
        if not reasons:
            untouched.append(stored)
        elif all(reason.part == "cursor" for reason in reasons):
            onward.append(replace(reading, since=stored.cursor))
        else:
            anew.append(reading)
    return Work(anew=tuple(anew), onward=tuple(onward), untouched=tuple(untouched))


def changed_files(
    readings: Iterable[Reading], failed: FailedPartitions
) -> tuple[list[tuple[Reading, SnapshotChanges]], list[Reading]]:
    """The readings with the files that changed in them, and those that have to be read as a whole."""
    onward: list[tuple[Reading, SnapshotChanges]] = []
    anew: list[Reading] = []
    for reading in readings:
        with failed.alone(reading.name):
            changes = read_snapshot_changes(reading.git_dir, reading.repository, reading.head, str(reading.since))
            if isinstance(changes, NotComparable):
                told = f"the files are read as a whole: {changes.reason}"
                report("sources", reading.name, told, level="warning")
                anew.append(reading)
            elif len(changes.paths) > MANY_FILES:
                anew.append(reading)
            else:
                onward.append((reading, changes))
    return onward, anew


def whole_batch(
    contract: TableContract,
    readings: Sequence[Reading],
    latest: Latest,
    *,
    here: Callable[[Sequence[Reading]], Iterator[pa.RecordBatch]],
    on_spark: "Callable[[Sequence[Reading]], DataFrame]",
    limit: int,
    failed: FailedPartitions,
) -> tuple[Batch, ...]:
    """All rows of the readings: read in this process if they are at most `limit`, else on Spark. None without readings.

    Partitions that were never made are begun here, too: what is read in vain takes less than a session's start.
    """
    stored = (latest.get((contract.name, reading.name)) for reading in readings)
    rows = sum(Content.from_version(entry.data_version).rows for entry in stored if entry and entry.data_version)
    tables: list[pa.Table] | None = [] if rows <= limit else None
    for reading in readings:
        if tables is None:
            break
        with failed.alone(reading.name):
            table = taken_up_to(limit - sum(each.num_rows for each in tables), contract, here([reading]))
            tables = None if table is None else [*tables, table]
    left = [reading for reading in readings if reading.name not in failed]
    if not left:
        return ()
    if tables is not None:
        return (Batch(rows=pa.concat_tables(tables), keys=keys_of(contract, left)),)

    def part(names: Sequence[str]) -> Batch:
        some = [reading for reading in left if reading.name in names]
        return Batch(rows=on_spark(some), keys=keys_of(contract, some), part=part)

    return (part([reading.name for reading in left]),)


def since_of(readings: Iterable[Reading]) -> dict[str, str]:
    """By repository the commit that the rows go on from."""
    return {reading.name: reading.since for reading in readings if reading.since is not None}
