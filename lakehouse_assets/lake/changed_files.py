"""The files that an update changed, from the change feed of `snapshots`.

Cost: the changed rows and, where files are gone while others came, the texts of these.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from lakehouse_assets.change.file_changes import ChangedFile, File, file_changes
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.lake.change_feed import read_changes
from lakehouse_assets.lake.stored_texts import stored_texts
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.cursors import FilterPolicy, Position
from lakehouse_assets.plan.scope import equal_scopes

_READ = ("path", "blob_sha", "mode", "size", "language")

CONTENT = FilterPolicy(name="content", columns=("blob_sha", "mode"))
"""What a file is taken for (its language, test or not) follows from its path and content, so it is no change."""


@dataclass(frozen=True, kw_only=True)
class Update:
    """Rows of `file_changes` for one repository, and how far `snapshots` has been read for them."""

    rows: pa.Table
    position: Position
    changed: bool
    """Whether anything changed. If not, the last update with changes is still the last."""


def read_update(lake: Lake, repo: str, since: Position | None, commit: str) -> Update:
    """What changed in the repository since the position, up to `commit`, which `snapshots` tells of."""
    changes = read_changes(
        lake,
        SNAPSHOTS,
        since.cursors.get(SNAPSHOTS.name) if since is not None else None,
        equal_scopes("repo", [repo]),
        policy=CONTENT,
        columns=_READ,
    )
    before = {**_files(changes.deleted), **_files(changes.before)}
    after = {**_files(changes.inserted), **_files(changes.after)}
    found = file_changes(before, after, partial(stored_texts, lake))
    for note in found.notes:
        report("file changes", repo, note, level="warning")
    # Where the earlier files are not known, everything looks added, and there is no commit that it was added after.
    from_commit = since.commit if since is not None and not changes.starts_over else None
    return Update(
        rows=file_change_rows(repo, found.files, from_commit, commit),
        position=Position(commit=commit, cursors={SNAPSHOTS.name: changes.cursor}),
        changed=bool(found.files) or changes.starts_over,
    )


def _files(rows: pa.Table) -> dict[str, File]:
    columns = (rows[name].to_pylist() for name in _READ)
    return {
        path: File(blob_sha=blob_sha, mode=mode, size=size, language=language)
        for path, blob_sha, mode, size, language in zip(*columns, strict=True)
    }


def file_change_rows(repo: str, files: Sequence[ChangedFile], from_commit: str | None, to_commit: str) -> pa.Table:
    """The changes as rows of `file_changes`."""
    columns = {
        "repo": [repo] * len(files),
        "path": [each.path for each in files],
        "change": [each.change for each in files],
        "old_path": [each.old_path for each in files],
        "old_blob": [each.old.blob_sha if each.old else None for each in files],
        "new_blob": [each.new.blob_sha if each.new else None for each in files],
        "old_mode": [each.old.mode if each.old else None for each in files],
        "new_mode": [each.new.mode if each.new else None for each in files],
        "old_language": [each.old.language if each.old else None for each in files],
        "new_language": [each.new.language if each.new else None for each in files],
        "similarity": [each.similarity for each in files],
        "from_commit": [from_commit] * len(files),
        "to_commit": [to_commit] * len(files),
    }
    return pa.table(columns, schema=arrow_schema(FILE_CHANGES.columns))
