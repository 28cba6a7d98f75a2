"""The SQL of which relationships came and went between two states of the graph."""

from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.plan.relational_step import RelationalStep, over

# Targets in other repositories are named as these are now: their earlier files are not kept for this one's sake.
NAMED_LINKS = RelationalStep(
    name="named_links",
    sql="""
        SELECT DISTINCT l.kind, l.path, s.qualified_name AS source, l.dst_repo AS target_repo,
          coalesce(l.external, t.qualified_name, o.qualified_name) AS target
        FROM {links} AS l
        JOIN {definitions} AS s ON s.repo = l.repo AND s.path = l.path AND s.def_id = coalesce(l.caller_def, l.src_def)
        LEFT JOIN {definitions} AS t ON t.repo = l.dst_repo AND t.path = l.dst_path AND t.def_id = l.dst_def
        LEFT JOIN {present} AS o
          ON l.dst_repo <> l.repo AND o.repo = l.dst_repo AND o.path = l.dst_path AND o.def_id = l.dst_def
    """,
    inputs=over(LINKS, DEFINITIONS, present=DEFINITIONS),
)

EDGE_CHANGES = RelationalStep(
    name="edge_changes",
    sql="""
        SELECT change, kind, path, source, target_repo, target FROM (
          SELECT 'removed' AS change, * FROM (SELECT * FROM {before} EXCEPT SELECT * FROM {after}) AS gone
          UNION ALL
          SELECT 'added' AS change, * FROM (SELECT * FROM {after} EXCEPT SELECT * FROM {before}) AS came
        ) AS changes ORDER BY path, source, kind, target_repo, target, change
    """,
    inputs=over(before=NAMED_LINKS, after=NAMED_LINKS),
)

EDGE_STEPS = (NAMED_LINKS, EDGE_CHANGES)
