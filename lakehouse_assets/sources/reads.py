"""Reading git in this process, for the few rows of an update: no session, no worker, no copy between them.

Which repositories are read at which commit, and their rows as Arrow tables. Many or large repositories are
read on Spark instead, with the same readers (`spark_reads`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.sources.blobs import read_blobs
from lakehouse_assets.sources.commits import read_commits
from lakehouse_assets.sources.head import Head
from lakehouse_assets.sources.snapshot import read_snapshot


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One repository to be read at one commit."""

    repository: Repository
    git_dir: Path
    head: Head
    since: str | None = None
    """The commit that the stored rows are of, where it is enough to read what changed since."""

    @property
    def name(self) -> str:
        return self.repository.name


def commits_of(readings: Sequence[Reading]) -> Iterator[pa.RecordBatch]:
    """Rows of `commits` for the readings."""
    for each in readings:
        yield from read_commits(each.git_dir, each.repository.name, each.head)


def snapshots_of(readings: Sequence[Reading]) -> Iterator[pa.RecordBatch]:
    """Rows of `snapshots` for the readings."""
    for each in readings:
        yield from read_snapshot(each.git_dir, each.repository, each.head)


def snapshots_table(readings: Sequence[Reading]) -> pa.Table:
    return pa.Table.from_batches(snapshots_of(readings), schema=arrow_schema(SNAPSHOTS.columns))


def blobs_table(missing: pa.Table, readings: Sequence[Reading]) -> pa.Table:
    """Rows of `blobs` for the contents that `missing` lists as blob_sha and repo."""
    by_name = {each.repository.name: each for each in readings}
    batches = (read for batch in missing.to_batches() for read in contents_of(batch, by_name))
    return pa.Table.from_batches(batches, schema=arrow_schema(BLOBS.columns))


def contents_of(batch: pa.RecordBatch, by_name: Mapping[str, Reading]) -> Iterator[pa.RecordBatch]:
    """Contents by blob_sha, each from the repository that the batch names for it."""
    shas: dict[str, list[str]] = {}
    for sha, name in zip(batch.column("blob_sha").to_pylist(), batch.column("repo").to_pylist(), strict=True):
        shas.setdefault(name, []).append(sha)
    for name, wanted in shas.items():
        yield from read_blobs(by_name[name].git_dir, name, wanted)
