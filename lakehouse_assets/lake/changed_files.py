"""The files that an update changed, from the change feed of `snapshots`.

Cost: the changed rows and, where files are gone while others came, the texts of these.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from lakehouse_assets.change.diff_steps import FILE_CHANGES_ROWS
from lakehouse_assets.change.renames import File, ReadTexts, renames
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.lake.change_feed import read_changes
from lakehouse_assets.lake.local_engine import local_engine
from lakehouse_assets.lake.step_engine import StepEngine
from lakehouse_assets.lake.stored_texts import stored_texts
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.cursors import FilterPolicy, Position
from lakehouse_assets.plan.scope import equal_scopes

if TYPE_CHECKING:
    from lakehouse_assets.lake.step_engine import Rows

READ = ("repo", "path", "blob_sha", "mode", "size", "language")
"""The columns of `snapshots` that decide what became of a file."""

CONTENT = FilterPolicy(name="content", columns=("blob_sha", "mode"))
"""What a file is taken for (its language, test or not) follows from its path and content, so it is no change."""

_RENAMES = pa.schema({"repo": pa.string(), "old_path": pa.string(), "path": pa.string(), "similarity": pa.int32()})
_COMMITS = pa.schema({"of_repo": pa.string(), "from_commit": pa.string(), "to_commit": pa.string()})


@dataclass(frozen=True, kw_only=True)
class Sides:
    """What differs of a repository's files between two commits, which of them were renamed, and what was not tried."""

    repo: str
    before: pa.Table
    after: pa.Table
    renamed: pa.Table
    from_commit: str | None
    to_commit: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Update:
    """What `file_changes` tells of one repository, and how far `snapshots` has been read for it."""

    sides: Sides
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
        columns=READ,
    )
    # Where the earlier files are not known, everything looks added, and there is no commit that it was added after.
    from_commit = since.commit if since is not None and not changes.starts_over else None
    sides = sides_of(
        repo,
        pa.concat_tables([changes.deleted, changes.before]),
        pa.concat_tables([changes.inserted, changes.after]),
        partial(stored_texts, lake),
        from_commit=from_commit,
        to_commit=commit,
    )
    for note in sides.notes:
        report("file changes", repo, note, level="warning")
    return Update(
        sides=sides,
        position=Position(commit=commit, cursors={SNAPSHOTS.name: changes.cursor}),
        changed=sides.before.num_rows + sides.after.num_rows > 0 or changes.starts_over,
    )


def sides_of(
    repo: str, before: pa.Table, after: pa.Table, read: ReadTexts, *, from_commit: str | None, to_commit: str
) -> Sides:
    """The files of one repository, given as rows of `snapshots`. What both have may be left out."""
    old, new = _files(before), _files(after)
    gone = {path: file for path, file in old.items() if path not in new}
    came = {path: file for path, file in new.items() if path not in old}
    found = renames(gone, came, read)
    renamed = pa.Table.from_pylist([{"repo": repo, **each._asdict()} for each in found.files], schema=_RENAMES)
    return Sides(
        repo=repo,
        before=before,
        after=after,
        renamed=renamed,
        from_commit=from_commit,
        to_commit=to_commit,
        notes=found.notes,
    )


def file_changes(engine: StepEngine, sides: Sequence[Sides]) -> "Rows":
    """What became of the files, as rows of `file_changes`."""
    commits = [{"of_repo": each.repo, "from_commit": each.from_commit, "to_commit": each.to_commit} for each in sides]
    names = engine.give(
        {
            "before": pa.concat_tables([each.before for each in sides]),
            "after": pa.concat_tables([each.after for each in sides]),
            "renames": pa.concat_tables([each.renamed for each in sides]),
            "commits_between": pa.Table.from_pylist(commits, schema=_COMMITS),
        }
    )
    return engine.rows(FILE_CHANGES, FILE_CHANGES_ROWS.text(names))


def compare_files(sides: Sides) -> pa.Table:
    """The same of one repository, in this process."""
    with local_engine() as engine:
        rows = file_changes(engine, [sides])
        assert isinstance(rows, pa.Table)
        return rows


def _files(rows: pa.Table) -> dict[str, File]:
    columns = (rows[name].to_pylist() for name in ("path", "blob_sha", "size"))
    return {path: File(blob_sha, size) for path, blob_sha, size in zip(*columns, strict=True)}
