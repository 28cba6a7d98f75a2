"""Contents as rows of `blobs`: text where there is text, the reason where there is none.

Content is only decoded, never parsed or run. What is too large is told from the object's header and not read.

Cost: one read per id; a batch holds about `BYTES_PER_BATCH` of content and at most one blob more.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.sources.batches import Columns
from lakehouse_assets.sources.decoding import decode_source
from lakehouse_assets.sources.objects import Objects

MAX_BYTES = 4 * 1024 * 1024
"""Larger contents are data or generated; as text they would cost more than they tell."""

BYTES_PER_BATCH = 16 * 1024 * 1024
ROWS_PER_BATCH = 10_000

_SCHEMA = arrow_schema(BLOBS.columns)


def read_blobs(
    git_dir: Path, repository: str, shas: Iterable[str], *, max_bytes: int = MAX_BYTES
) -> Iterator[pa.RecordBatch]:
    """One row per id in `shas`, in their order; an id that comes twice gives one row."""
    objects = Objects(git_dir, repository)
    columns = Columns(_SCHEMA)
    collected = 0
    for sha in dict.fromkeys(shas):
        size = objects.size(sha)
        if size > max_bytes:
            columns.append(sha, size, None, None, "too_large")
        else:
            collected += size
            decoded = decode_source(objects.read(sha, "blob"))
            if decoded == "binary":
                columns.append(sha, size, None, None, "binary")
            else:
                columns.append(sha, size, decoded.encoding, decoded.text, None)
        if collected >= BYTES_PER_BATCH or len(columns) >= ROWS_PER_BATCH:
            yield from columns.drain()
            collected = 0
    yield from columns.drain()
