"""Which relationships between definitions came and went from one commit's graph to another's.

Two relationships are the same if they are of one kind and between the same definitions: that a call stands on another
line, or twice, is no change. Cost: the links of the repository, and the names of definitions, at two versions.
"""

from collections.abc import Sequence

import pyarrow as pa

from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.core.errors import BadInputError, LakeStateError
from lakehouse_assets.lake.local_engine import local_engine
from lakehouse_assets.lake.published import published
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.scope import equal_scopes
from lakehouse_assets.plan.sql_text import in_list, literal

KINDS = ("CALL", "IMPORT", "INHERITS", "OVERRIDES", "REF")
"""Relationships that linking finds, between definitions; those inside one definition are told by its body's change."""

_BETWEEN_NAMES = """
SELECT DISTINCT l.kind, l.path, s.qualified_name AS source, l.dst_repo AS target_repo,
  coalesce(l.external, t.qualified_name, o.qualified_name) AS target
FROM {links} AS l
JOIN {definitions} AS s ON s.repo = l.repo AND s.path = l.path AND s.def_id = l.src_def
LEFT JOIN {definitions} AS t ON t.repo = l.dst_repo AND t.path = l.dst_path AND t.def_id = l.dst_def
LEFT JOIN {present} AS o
  ON l.dst_repo <> {repo} AND o.repo = l.dst_repo AND o.path = l.dst_path AND o.def_id = l.dst_def
WHERE l.repo = {repo} AND {wanted}"""
"""Targets in other repositories are named as these are now: their earlier files are not kept for this one's sake."""

_CHANGES = """
SELECT * FROM (
  SELECT 'removed' AS change, * FROM (SELECT * FROM {before} EXCEPT SELECT * FROM {after}) AS gone
  UNION ALL
  SELECT 'added' AS change, * FROM (SELECT * FROM {after} EXCEPT SELECT * FROM {before}) AS came
) AS changes ORDER BY path, source, kind, target_repo, target, change"""


def edge_changes(lake: Lake, repo: str, commits: tuple[str, str], kinds: Sequence[str] = KINDS) -> pa.Table:
    """Change, kind, file, source and target of each relationship that the second commit added or removed."""
    before, after = (_versions(lake, repo, commit) for commit in commits)
    wanted = in_list("l.kind", kinds, "duckdb")
    own = equal_scopes("repo", [repo])
    present = relation(lake, DEFINITIONS)
    with local_engine() as engine:
        names: dict[str, str] = {}
        for label, versions in (("before", before), ("after", after)):
            tables = {c.name: relation(lake, c, version=versions[c.name], scopes=own) for c in (LINKS, DEFINITIONS)}
            query = _BETWEEN_NAMES.format(**tables, present=present, repo=literal(repo, "duckdb"), wanted=wanted)
            names[label], _ = engine.keep(label, query)
        return engine.ask_arrow(_CHANGES.format(**names))


def _versions(lake: Lake, repo: str, commit: str) -> dict[str, int]:
    found = published(lake, repo, commit, (LINKS, DEFINITIONS))
    if found is None:
        raise BadInputError(
            subject=f"graph of {repo} at {commit[:12]}",
            seen="it was never brought to this commit",
            why="its relationships are not known",
            remedy=f"`lakehouse sync {repo} --to {commit[:12]}`, then sync to the other commit",
        )
    if found.missing:
        raise LakeStateError(
            subject=f"graph of {repo} at {commit[:12]}",
            seen=f"the versions of {', '.join(found.missing)} that tell of it can no longer be read",
            why="its relationships are not known any more",
            remedy=f"`lakehouse sync {repo} --to {commit[:12]}` makes them again, then sync to the other commit",
        )
    return found.versions
