"""The files that an update changed, from the change feed of `snapshots`.

Cost: the changed rows and, where files are gone while others came, the texts of these.
"""

from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from lakehouse_assets.change.diff_steps import FILE_CHANGES_ROWS
from lakehouse_assets.change.renames import File, ReadTexts, renames
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.lake.change_feed import read_changes
from lakehouse_assets.lake.local_engine import local_engine
from lakehouse_assets.lake.stored_texts import stored_texts
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.cursors import FilterPolicy, Position
from lakehouse_assets.plan.scope import equal_scopes

READ = ("repo", "path", "blob_sha", "mode", "size", "language")
"""The columns of `snapshots` that decide what became of a file."""

CONTENT = FilterPolicy(name="content", columns=("blob_sha", "mode"))
"""What a file is taken for (its language, test or not) follows from its path and content, so it is no change."""

_RENAMES = pa.schema({"old_path": pa.string(), "path": pa.string(), "similarity": pa.int32()})


@dataclass(frozen=True, kw_only=True)
class Update:
    """Rows of `file_changes` for one repository, and how far `snapshots` has been read for them."""

    rows: pa.Table
    position: Position
    changed: bool
    """Whether anything changed. If not, the last update with changes is still the last."""


@dataclass(frozen=True, kw_only=True)
class ComparedFiles:
    """Rows of `file_changes`; and which limits were reached."""

    rows: pa.Table
    notes: tuple[str, ...]


def read_update(lake: Lake, repo: str, since: Position | None, commit: str) -> Update:
    """What changed in the repository since the position, up to `commit`, which `snapshots` tells of."""
    changes = read_changes(
        lake,
        SNAPSHOTS,
        since.cursors.get(SNAPSHOTS.name) if since is not None else None,
        equal_scopes("repo", [repo]),
        policy=CONTENT,
        columns=READ,
    )
    # Where the earlier files are not known, everything looks added, and there is no commit that it was added after.
    from_commit = since.commit if since is not None and not changes.starts_over else None
    found = compare_files(
        pa.concat_tables([changes.deleted, changes.before]),
        pa.concat_tables([changes.inserted, changes.after]),
        partial(stored_texts, lake),
        from_commit=from_commit,
        to_commit=commit,
    )
    for note in found.notes:
        report("file changes", repo, note, level="warning")
    return Update(
        rows=found.rows,
        position=Position(commit=commit, cursors={SNAPSHOTS.name: changes.cursor}),
        changed=found.rows.num_rows > 0 or changes.starts_over,
    )


def compare_files(
    before: pa.Table, after: pa.Table, read: ReadTexts, *, from_commit: str | None, to_commit: str
) -> ComparedFiles:
    """What became of the files of one repository, given as rows of `snapshots`. What both have may be left out."""
    schema = arrow_schema(FILE_CHANGES.columns)
    if not before.num_rows and not after.num_rows:
        return ComparedFiles(rows=schema.empty_table(), notes=())
    old, new = _files(before), _files(after)
    gone = {path: file for path, file in old.items() if path not in new}
    came = {path: file for path, file in new.items() if path not in old}
    found = renames(gone, came, read)
    renamed = pa.Table.from_pylist([each._asdict() for each in found.files], schema=_RENAMES)
    with local_engine() as engine:
        names = engine.give({"before": before, "after": after, "renames": renamed})
        rows = engine.ask_arrow(FILE_CHANGES_ROWS.text(names), from_commit=from_commit, to_commit=to_commit)
    return ComparedFiles(rows=rows.cast(schema), notes=found.notes)


def _files(rows: pa.Table) -> dict[str, File]:
    columns = (rows[name].to_pylist() for name in ("path", "blob_sha", "size"))
    return {path: File(blob_sha, size) for path, blob_sha, size in zip(*columns, strict=True)}
