"""The three assets that are read from git, run by Dagster in this process, without Spark."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from dagster import DagsterInstance, ExecuteInProcessResult, materialize

from lakehouse_assets.assets.git.blobs import blobs
from lakehouse_assets.assets.git.commits import commits
from lakehouse_assets.assets.git.snapshots import snapshots
from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.io_manager import DeltaIOManager
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.run_partitions import PARTITIONS_NAME
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.makes import ONLY_STALE
from lakehouse_assets.sources.blobs import read_blobs
from lakehouse_assets.sources.head import resolve_head
from lakehouse_assets.sources.mirror import git_directory
from lakehouse_assets.sources.reads import Reading, commits_of, snapshots_of

ASSETS = [commits, snapshots, blobs]


class NoSpark(SparkResource):
    """Fails whoever asks for a session."""

    def _init_session(self) -> None:
        raise AssertionError("a session was asked for")


class GitAssets:
    """A lake with repositories, and runs of the assets over them."""

    def __init__(self, settings: Settings, *repositories: Repository) -> None:
        self.settings = settings
        self.lake = Lake(settings.lake)
        self.repositories = {repository.name: repository for repository in repositories}
        self.instance = DagsterInstance.ephemeral()
        Registry(self.lake).add(repositories)
        self.instance.add_dynamic_partitions(PARTITIONS_NAME, list(self.repositories))

    def register(self, repository: Repository) -> None:
        """Give a registered name new settings."""
        Registry(self.lake).add([repository], update=True)
        self.repositories[repository.name] = repository

    def run(self, *, heads: Mapping[str, str] | None = None, assets: Any = None) -> ExecuteInProcessResult:
        """One run over all repositories."""
        lakehouse, spark = LakehouseResource(), NoSpark()
        names = list(self.repositories)
        tags = {"dagster/asset_partition_range_start": names[0], "dagster/asset_partition_range_end": names[-1]}
        chosen = ASSETS if assets is None else assets
        return materialize(
            ASSETS,
            selection=[asset.key for asset in chosen],
            instance=self.instance,
            partition_key=names[0] if len(names) == 1 else None,
            tags={**(tags if len(names) > 1 else {}), **ONLY_STALE},
            resources={
                "lakehouse": lakehouse,
                "spark": spark,
                "delta": DeltaIOManager(lakehouse=lakehouse, spark=spark),
            },
            run_config={
                "ops": {"commits": {"config": {"heads": dict(heads or {})}}} if commits in chosen else {},
                "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
            },
        )

    def rows(self, contract: TableContract) -> list[dict[str, Any]]:
        return _sorted(self.lake.read(contract))

    def assert_clean(self, heads: Mapping[str, str] | None = None) -> None:
        """All three tables hold what a clean read of the repositories at their heads gives."""
        readings = [
            self._reading(repository, (heads or {}).get(name)) for name, repository in self.repositories.items()
        ]
        expected = {COMMITS: commits_of(readings), SNAPSHOTS: snapshots_of(readings)}
        for contract, batches in expected.items():
            assert self.rows(contract) == _sorted(_table(contract, list(batches)))
        stored = {row["blob_sha"]: row for row in self.rows(BLOBS)}
        assert len(stored) == len(self.rows(BLOBS))
        for reading in readings:
            files = _table(SNAPSHOTS, list(snapshots_of([reading]))).to_pylist()
            shas = [row["blob_sha"] for row in files if row["kind"] in ("file", "executable")]
            contents = _table(BLOBS, list(read_blobs(reading.git_dir, reading.repository.name, shas)))
            assert [row for row in contents.to_pylist() if stored[row["blob_sha"]] != row] == []

    def _reading(self, repository: Repository, to: str | None) -> Reading:
        mirrors: Path = self.settings.mirrors
        head = resolve_head(repository, mirrors, to)
        return Reading(repository=repository, git_dir=git_directory(repository, mirrors), head=head)


def _table(contract: TableContract, batches: list[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(batches, schema=arrow_schema(contract.columns))


def _sorted(table: pa.Table) -> list[dict[str, Any]]:
    return sorted(table.to_pylist(), key=lambda row: str(list(row.values())[:2]))
