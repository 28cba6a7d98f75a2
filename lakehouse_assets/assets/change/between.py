"""What changed between any two commits of a repository, from git and the extractors: whether synced or not."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa

from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.changed_definitions import compare_definitions, definitions_of
from lakehouse_assets.lake.changed_files import READ, compare_files, sides_of
from lakehouse_assets.lake.local_engine import local_engine
from lakehouse_assets.lake.published_graph import newest_graph
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.recipes.extractors import extractors
from lakehouse_assets.sources.blobs import read_blobs
from lakehouse_assets.sources.head import Head, resolve_head
from lakehouse_assets.sources.mirror import git_directory
from lakehouse_assets.sources.snapshot import read_snapshot


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Rows of `file_changes` and `diffs` from one commit to another; `from_commit` is None for a first update."""

    from_commit: str | None
    to_commit: str | None
    files: pa.Table
    definitions: pa.Table
    notes: tuple[str, ...] = ()


def last_update(lake: Lake, repository: Repository) -> Difference:
    """What was published of the repository's last update with changes."""
    graph = newest_graph(lake)
    graph.require(repository.name)
    with local_engine() as engine:
        files, definitions = (
            engine.ask_arrow(f"FROM {graph.relation(contract, repo=repository.name)} ORDER BY {order}")
            .select(contract.column_names)
            .cast(arrow_schema(contract.columns))
            for contract, order in ((FILE_CHANGES, "path"), (DIFFS, "path, symbol"))
        )
    known = files.num_rows > 0
    return Difference(
        from_commit=files["from_commit"][0].as_py() if known else None,
        to_commit=files["to_commit"][0].as_py() if known else None,
        files=files,
        definitions=definitions,
    )


def between(settings: Settings, repository: Repository, commits: str) -> Difference:
    """What changed from one commit to another, given as `A..B`."""
    first, second = _ends(commits)
    old = resolve_head(repository, settings.mirrors, first)
    new = resolve_head(repository, settings.mirrors, second or None)
    git_dir = git_directory(repository, settings.mirrors)
    texts = partial(_texts, git_dir, repository.name)
    before, after = (_files(git_dir, repository, head) for head in (old, new))
    sides = sides_of(repository.name, before, after, texts, from_commit=old.commit_sha, to_commit=new.commit_sha)
    files = compare_files(sides)
    return Difference(
        from_commit=old.commit_sha,
        to_commit=new.commit_sha,
        files=files,
        definitions=compare_definitions(definitions_of(Lake(settings.lake), files, extractors(), texts)),
        notes=sides.notes,
    )


def _ends(commits: str) -> tuple[str, str]:
    first, dots, second = commits.partition("..")
    if not first or not dots or second.startswith("."):
        raise BadInputError(
            subject=f"commits {commits!r}",
            seen="it is not two commits with two dots between them",
            why="a difference is from one commit to another",
            remedy="write A..B, or A.. for what changed from A to the head",
        )
    return first, second


def _files(git_dir: Path, repository: Repository, head: Head) -> pa.Table:
    batches = [batch.select(READ) for batch in read_snapshot(git_dir, repository, head)]
    return pa.Table.from_batches(batches, arrow_schema(SNAPSHOTS.columns).empty_table().select(READ).schema)


def _texts(git_dir: Path, name: str, shas: Sequence[str]) -> dict[str, str]:
    return {
        blob_sha: text
        for batch in read_blobs(git_dir, name, shas)
        for blob_sha, text in zip(batch["blob_sha"].to_pylist(), batch["text"].to_pylist(), strict=True)
        if text is not None
    }
