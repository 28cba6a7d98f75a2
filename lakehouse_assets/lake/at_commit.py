"""The tables as they told of one commit of one repository.

Invariant: every table is read at the version that one row of `graph_versions` names, so that all of them tell of the
same commit; and only the rows of that repository, for what the other repositories were at that moment is an accident.
Contents (`blobs`, `extracts`) are never rewritten: those of the commit's files are given as they are now.
"""

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake.published import PublishedCommit, is_readable
from lakehouse_assets.lake.query import Tables
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.scope import equal_scopes

_BY_CONTENT = (BLOBS, EXTRACTS)


def tables_at(lake: Lake, commit: PublishedCommit, query: str) -> Tables:
    """The tables as they were at the commit; refused if one that `query` names can no longer be read."""
    repo, versions = commit.repo, commit.versions
    own = equal_scopes("repo", [repo])
    tables = {name: CATALOG[name] for name in versions if name in CATALOG}
    by_content = [each for each in _BY_CONTENT if each.name in query.lower() and SNAPSHOTS.name in versions]
    asked = {name: each for name, each in tables.items() if name in query.lower() or (by_content and each == SNAPSHOTS)}
    gone = [name for name, each in asked.items() if not is_readable(lake, each, versions[name], own)]
    if gone:
        raise LakeStateError(
            subject=f"graph of {repo} at {commit.commit_sha[:12]}",
            seen=f"the versions of {', '.join(gone)} that tell of it can no longer be read",
            why="rows of other versions would tell of other commits",
            remedy=f"`lakehouse versions {repo}` lists the commits that can; `lakehouse sync {repo} "
            f"--to {commit.commit_sha[:12]}` makes this one again, and `lakehouse pin` keeps it",
        )
    found = {name: relation(lake, each, version=versions[name], scopes=own) for name, each in asked.items()}
    for each in by_content:
        files = f"SELECT blob_sha FROM {found[SNAPSHOTS.name]}"
        found[each.name] = f"(FROM {relation(lake, each)} WHERE blob_sha IN ({files}))"
    return Tables(relations=found, known=(*tables, *(each.name for each in _BY_CONTENT)))
