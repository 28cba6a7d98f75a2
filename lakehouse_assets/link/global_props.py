"""Properties of definitions that follow from the links of the whole repository, as one relational step.

Only links within the repository count, so that a neighbour's change cannot change them.
"""

from collections.abc import Sequence

from lakehouse_assets.contracts.global_props import GLOBAL_PROPS
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.plan.relational_step import RelationalStep, over
from lakehouse_assets.plan.sql_text import in_list

GLOBAL_PROPS_ROWS = RelationalStep(
    name="global_props",
    sql="""
        WITH inside AS (
          SELECT repo, path, src_def, caller_def, kind, dst_path, dst_def FROM {incoming}
          WHERE external IS NULL AND dst_repo = repo AND dst_n = 0
        )
        SELECT repo, path, def_id, name, CAST(value AS VARCHAR) AS value FROM (
          SELECT repo, dst_path AS path, dst_def AS def_id, 'callers' AS name,
            count(DISTINCT (path, caller_def)) AS value
          FROM inside WHERE kind = 'CALL' GROUP BY repo, dst_path, dst_def
          UNION ALL
          SELECT repo, dst_path, dst_def, 'importers', count(DISTINCT path)
          FROM inside WHERE kind = 'IMPORT' GROUP BY repo, dst_path, dst_def
          UNION ALL
          SELECT repo, dst_path, dst_def, 'subclasses', count(DISTINCT (path, src_def))
          FROM inside WHERE kind = 'INHERITS' GROUP BY repo, dst_path, dst_def
          UNION ALL
          SELECT repo, dst_path, dst_def, 'overriders', count(DISTINCT (path, src_def))
          FROM inside WHERE kind = 'OVERRIDES' GROUP BY repo, dst_path, dst_def
          UNION ALL
          SELECT repo, dst_path, dst_def, 'references', count(*)
          FROM inside WHERE kind = 'REF' GROUP BY repo, dst_path, dst_def
          UNION ALL
          SELECT repo, path, caller_def, 'callees', count(DISTINCT (dst_repo, dst_path, dst_def))
          FROM {outgoing} WHERE kind = 'CALL' GROUP BY repo, path, caller_def
        ) AS found ORDER BY repo, path, def_id, name
    """,
    inputs=over(incoming=LINKS, outgoing=LINKS),
    output=GLOBAL_PROPS,
    assets=(GLOBAL_PROPS.name,),
)


def global_props_sql(links: str, paths: Sequence[str] | None) -> str:
    """Rows of `global_props` over the relation `links`: of definitions in these files, or in all of them."""
    return GLOBAL_PROPS_ROWS.text({"incoming": _of(links, "dst_path", paths), "outgoing": _of(links, "path", paths)})


def _of(links: str, column: str, paths: Sequence[str] | None) -> str:
    """The links whose file in `column` is one of the paths."""
    chosen = "TRUE" if paths is None else in_list(column, paths, "duckdb") if paths else "FALSE"
    return f"(SELECT * FROM {links} AS l WHERE {chosen})"
