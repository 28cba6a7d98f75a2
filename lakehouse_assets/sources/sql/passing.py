"""Rows on their way from a source into the lake: counted as they pass, and looked at once to see whether any come."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakehouse_assets.contracts.ingest import Ingest
from lakehouse_assets.core.errors import SourceError
from lakehouse_assets.lake.batch import StreamedRows
from lakehouse_assets.plan.ingest_plan import IngestPlan
from lakehouse_assets.sources.calendar import beyond_calendar

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass
class Counts:
    """What has passed."""

    read: int = 0
    late: int = 0


def passing(
    rows: "Iterator[pa.RecordBatch] | DataFrame", ingest: Ingest, plan: IngestPlan, counts: Counts
) -> "StreamedRows | DataFrame":
    """What the upsert service takes; a stream is counted as it passes."""
    return StreamedRows(batches=_counted(rows, ingest, plan, counts)) if isinstance(rows, Iterator) else rows


def any_of(rows: "StreamedRows | DataFrame") -> "StreamedRows | DataFrame | None":
    """The rows; None if there are none. Of a frame that is asked of the source, by a query for one row."""
    if not isinstance(rows, StreamedRows):
        return None if rows.isEmpty() else rows
    first = next((each for each in rows.batches if each.num_rows), None)
    return None if first is None else StreamedRows(batches=chain((first,), rows.batches))


def _counted(
    batches: Iterator[pa.RecordBatch], ingest: Ingest, plan: IngestPlan, counts: Counts
) -> Iterator[pa.RecordBatch]:
    """Count the rows, and those behind the mark, as they pass."""
    since = plan.since if plan.mode == "window" else None
    bounds = {ingest.timestamp: since.timestamp, ingest.id: since.id} if since else {}
    for batch in batches:
        counts.read += batch.num_rows
        if (beyond := beyond_calendar(batch)) is not None:
            raise SourceError(
                subject=f"ingest {ingest.name}",
                seen=f"{beyond} has a moment or day that is no year from 1 to 9999, such as infinity",
                why="engines that read the lake take it for one thing or another; nothing was written",
                remedy=f"under `columns`, give {beyond} the type string, or read a first_query that says what it means",
            )
        behind = [
            np.asarray(pc.less(batch.column(name), pa.scalar(bound, batch.column(name).type)).fill_null(True))  # pyright: ignore[reportAttributeAccessIssue]
            for name, bound in bounds.items()
            if name is not None and bound is not None
        ]
        counts.late += int(np.logical_and.reduce(behind).sum()) if behind else 0
        yield batch
