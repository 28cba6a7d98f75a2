"""Write a frame into a contract's table: one Delta commit that carries its ledger entries.

A run's partitions are replaced as a whole, or rows with new keys are added; which of the two is the
contract's choice. Nothing outside the partitions of the run is touched.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

from lakehouse_assets.contracts.schemas import spark_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError, EnvironmentNotReadyError, from_wire
from lakehouse_assets.lake.ledger import Entry, Ledger, note
from lakehouse_assets.lake.tables import Lake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_RECENT = 50
"""Commits to look back for a write's own: only those made by others while it finished can be newer."""


@dataclass(frozen=True, kw_only=True)
class WriteReport:
    """What a write did, as Delta's own commit tells it."""

    table: str
    partitions: tuple[str, ...]
    rows_written: int
    files_added: int
    files_removed: int
    bytes_added: int
    table_version: int
    seconds: float


def write(lake: Lake, contract: TableContract, frame: "DataFrame", entries: Sequence[Entry]) -> WriteReport:
    """Write `frame` as the rows of the entries' partitions."""
    started = time.perf_counter()
    _refuse_other_columns(contract, frame)
    lake.ensure(contract)
    partitions = tuple(entry.partition for entry in entries)
    writer = frame.select(*contract.column_names).write.format("delta").option("userMetadata", note(entries))
    match contract.strategy:
        case "replace_partitions":
            writer = writer.mode("overwrite").option("replaceWhere", partition_predicate(contract, partitions))
        case "append_new":
            writer = writer.mode("append")
        case _:
            assert_never(contract.strategy)
    with spark_errors(f"table {contract.name}"):
        writer.save(str(lake.path(contract)))
    commit = _own_commit(lake, contract, entries)
    Ledger(lake).record(contract, unwritten=() if commit else entries)
    metrics = commit.get("operationMetrics", {})
    return WriteReport(
        table=contract.name,
        partitions=partitions,
        rows_written=int(metrics.get("numOutputRows", 0)),
        files_added=int(metrics.get("numFiles", 0)),
        files_removed=int(metrics.get("numRemovedFiles", 0)),
        bytes_added=int(metrics.get("numOutputBytes", 0)),
        table_version=commit.get("version", lake.open(contract).version()),
        seconds=round(time.perf_counter() - started, 3),
    )


def partition_predicate(contract: TableContract, partitions: Sequence[str]) -> str:
    """Literal predicate for the run's partitions, so that Delta prunes and concurrent runs do not conflict."""
    (column,) = contract.partition_by
    return f"`{column}` IN ({', '.join(sql_literal(partition) for partition in partitions)})"


def sql_literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@contextmanager
def spark_errors(subject: str) -> Iterator[None]:
    """Give a worker's own error back as it was raised, and say plainly when the disk was full."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        text = str(error)
        ours = from_wire(text)
        if ours is not None:
            raise ours from error
        if "No space left on device" in text or "Disk quota exceeded" in text:
            raise EnvironmentNotReadyError(
                subject=subject,
                seen="the disk is full",
                why="the write stopped before its commit, so the table is as it was before",
                remedy="free some space (see `lakehouse doctor`) and run it again",
            ) from error
        raise


def _refuse_other_columns(contract: TableContract, frame: "DataFrame") -> None:
    wanted = {field.name: field.dataType.simpleString() for field in spark_schema(contract)}
    seen = {field.name: field.dataType.simpleString() for field in frame.schema}
    if wanted == seen:
        return
    differing = sorted({f"{name} {kind}" for name, kind in wanted.items() ^ seen.items()})
    raise BadInputError(
        subject=f"table {contract.name}",
        seen=f"the frame and the contract differ in {', '.join(differing)}",
        why="rows of another shape would make the table unreadable to those who rely on the contract",
        remedy="make the frame fit the contract, or change the contract",
    )


def _own_commit(lake: Lake, contract: TableContract, entries: Sequence[Entry]) -> dict[str, Any]:
    """The commit that carries these entries; none if there was no row to write, for then Spark commits nothing."""
    text = note(entries)
    return next((commit for commit in lake.open(contract).history(_RECENT) if commit.get("userMetadata") == text), {})
