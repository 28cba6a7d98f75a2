"""What a run has to read from git for an asset: nothing, what changed since the stored rows, or everything.

Invariant: rows are left alone only where a part of the key says that they are what a clean read gives. If nothing but
the commit differs, the commits are compared; if code or settings differ, or there are no rows, all is read.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.ledger import Entry, EntryKey
from lakehouse_assets.plan.engine import EngineChoice
from lakehouse_assets.plan.makes import Makes
from lakehouse_assets.plan.staleness import MaterializationKey, stale_because
from lakehouse_assets.recipes.git import git_key
from lakehouse_assets.sources.reads import Reading
from lakehouse_assets.sources.snapshot import SnapshotChanges, read_snapshot_changes
from lakehouse_assets.sources.trees import NotComparable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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


def work_of(contract: TableContract, readings: Sequence[Reading], latest: Latest, makes: Makes) -> Work:
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
        if not reasons and makes == "stale":
            untouched.append(stored)
        elif reasons and all(reason.part == "cursor" for reason in reasons):
            onward.append(replace(reading, since=stored.cursor))
        else:
            anew.append(reading)
    return Work(anew=tuple(anew), onward=tuple(onward), untouched=tuple(untouched))


def changed_files(
    readings: Iterable[Reading], engine: EngineChoice, failed: FailedPartitions
) -> tuple[list[tuple[Reading, SnapshotChanges]], list[Reading]]:
    """The readings with the files that changed in them, and those that have to be read as a whole."""
    onward: list[tuple[Reading, SnapshotChanges]] = []
    anew: list[Reading] = []
    for reading in readings:
        if engine.much_changed:
            anew.append(reading)
            continue
        with failed.alone(reading.name):
            changes = read_snapshot_changes(reading.git_dir, reading.repository, reading.head, str(reading.since))
            if isinstance(changes, NotComparable):
                told = f"the files are read as a whole: {changes.reason}"
                report("sources", reading.name, told, level="warning")
                anew.append(reading)
            else:
                onward.append((reading, changes))
    return onward, anew


def whole_batch(
    contract: TableContract,
    readings: Sequence[Reading],
    *,
    here: Callable[[Sequence[Reading]], Iterator[pa.RecordBatch]],
    on_spark: "Callable[[Sequence[Reading]], DataFrame]",
    engine: EngineChoice,
    failed: FailedPartitions,
) -> tuple[Batch, ...]:
    """All rows of the readings, read where the run works. None without readings."""
    if engine.engine == "local":
        tables: list[pa.Table] = []
        for reading in readings:
            with failed.alone(reading.name):
                tables.append(pa.Table.from_batches(here([reading]), arrow_schema(contract.columns)))
        left = [reading for reading in readings if reading.name not in failed]
        return (Batch(rows=pa.concat_tables(tables), keys=keys_of(contract, left)),) if left else ()
    left = [reading for reading in readings if reading.name not in failed]
    if not left:
        return ()

    def part(names: Sequence[str]) -> Batch:
        some = [reading for reading in left if reading.name in names]
        return Batch(rows=on_spark(some), keys=keys_of(contract, some), part=part)

    return (part([reading.name for reading in left]),)


def since_of(readings: Iterable[Reading]) -> dict[str, str]:
    """By repository the commit that the rows go on from."""
    return {reading.name: reading.since for reading in readings if reading.since is not None}
