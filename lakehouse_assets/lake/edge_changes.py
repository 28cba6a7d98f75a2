"""Which relationships between definitions came and went from one commit's graph to another's.

Two relationships are the same if they are of one kind and between the same definitions: that a call stands on another
line, or twice, is no change. Cost: the links of the repository, and the names of definitions, at two versions.
"""

from collections.abc import Sequence

import pyarrow as pa

from lakehouse_assets.change.edge_steps import EDGE_CHANGES, NAMED_LINKS
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.core.errors import BadInputError, LakeStateError
from lakehouse_assets.lake.local_engine import local_engine
from lakehouse_assets.lake.published import published
from lakehouse_assets.lake.published_graph import newest_graph
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.scope import equal_scopes
from lakehouse_assets.plan.sql_text import in_list

KINDS = ("CALL", "IMPORT", "INHERITS", "OVERRIDES", "REF")
"""Relationships that linking finds, between definitions; those inside one definition are told by its body's change."""


def edge_changes(lake: Lake, repo: str, commits: tuple[str, str], kinds: Sequence[str] = KINDS) -> pa.Table:
    """Change, kind, file, source and target of each relationship that the second commit added or removed."""
    before, after = (_versions(lake, repo, commit) for commit in commits)
    wanted = in_list("kind", kinds, "duckdb")
    own = equal_scopes("repo", [repo])
    present = newest_graph(lake).relation(DEFINITIONS)
    with local_engine() as engine:
        names: dict[str, str] = {}
        for label, versions in (("before", before), ("after", after)):
            tables = {c.name: relation(lake, c, version=versions[c.name], scopes=own) for c in (LINKS, DEFINITIONS)}
            tables[LINKS.name] = f"(SELECT * FROM {tables[LINKS.name]} AS l WHERE {wanted})"
            names[label], _ = engine.keep(label, NAMED_LINKS.text({**tables, "present": present}))
        return engine.ask_arrow(EDGE_CHANGES.text(names))


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
