"""The files that commits changed, found by comparing trees: only folders that differ are read.

Cost: some tree objects a commit, about two thousand commits a second.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

import pyarrow as pa

from lakehouse_assets.contracts.commit_files import COMMIT_FILES
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.sources.objects import Objects
from lakehouse_assets.sources.paths import stored_path
from lakehouse_assets.sources.trees import NotComparable, compared, tree_files


@dataclass(frozen=True, kw_only=True)
class CommitTrees:
    """A commit with its tree and that of its first parent; None for a root, which brings all of its files."""

    month: date
    commit_sha: str
    tree: str
    before: str | None
    committed_at: datetime


def changed_by_commits(git_dir: Path, repo: str, commits: Iterable[CommitTrees]) -> pa.Table:
    """Rows of `commit_files`; a commit whose parent cannot be read is left out, and told."""
    objects = Objects(git_dir, repo)
    rows: list[tuple[date, str, str, str, bool, datetime]] = []
    for each in commits:
        if each.before is None:
            found = [(path, False) for path, _, _ in tree_files(objects, each.tree)]
        else:
            changes = compared(objects, each.before, each.tree)
            if isinstance(changes, NotComparable):
                report("sources", repo, f"{each.commit_sha}: {changes.reason}", level="warning")
                continue
            found = [(path, False) for path, _, _ in changes.files] + [(path, True) for path in changes.gone]
        rows += [
            (each.month, repo, each.commit_sha, stored_path(path), gone, each.committed_at) for path, gone in found
        ]
    schema = arrow_schema(COMMIT_FILES.columns)
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.table(
        [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)], schema=schema
    )
