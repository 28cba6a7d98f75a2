"""A repository whose commits are brought into `commits`, `snapshots` and `blobs` one by one, without a run."""

from pathlib import Path

import pyarrow as pa

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.sources.blobs import read_blobs
from lakehouse_assets.sources.commits import read_commits
from lakehouse_assets.sources.head import resolve_head
from lakehouse_assets.sources.snapshot import read_snapshot
from lakehouse_assets_tests.support.repos import RepoBuilder, registered
from lakehouse_assets_tests.support.writes import write


class SyncedRepo:
    def __init__(self, lake: Lake, path: Path, name: str = "shop") -> None:
        self.lake = lake
        self.repo = RepoBuilder(path)
        self.name = name

    def sync(self) -> str:
        """Bring the tables up to the head; gives its commit."""
        repository = registered(self.repo.path, name=self.name)
        head = resolve_head(repository, Path())
        commits = read_commits(self.repo.path, self.name, head)
        files = pa.Table.from_batches(
            read_snapshot(self.repo.path, repository, head), schema=arrow_schema(SNAPSHOTS.columns)
        )
        contents = read_blobs(self.repo.path, self.name, sorted(set(files["blob_sha"].to_pylist())))
        run = f"{self.name} at {head.commit_sha}"
        for contract, rows in (
            (COMMITS, pa.Table.from_batches(commits, schema=arrow_schema(COMMITS.columns))),
            (SNAPSHOTS, files),
        ):
            write(self.lake, contract, rows, partitions=(self.name,), run_id=run, cursor=head.commit_sha)
        blobs = pa.Table.from_batches(contents, schema=arrow_schema(BLOBS.columns))
        write(self.lake, BLOBS, blobs, partitions={self.name: ()}, run_id=run, cursor=head.commit_sha)
        return head.commit_sha
