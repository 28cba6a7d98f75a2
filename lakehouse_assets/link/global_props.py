"""Properties of definitions that follow from the links of the whole repository, as one relational step.

Only links within the repository count, so that a neighbour's change cannot change them.
"""

from collections.abc import Sequence

from lakehouse_assets.plan.sql_text import in_list

_INCOMING = (
    ("callers", "CALL", "count(DISTINCT (path, src_def))"),
    ("importers", "IMPORT", "count(DISTINCT path)"),
    ("subclasses", "INHERITS", "count(DISTINCT (path, src_def))"),
    ("overriders", "OVERRIDES", "count(DISTINCT (path, src_def))"),
    ("references", "REF", "count(*)"),
)


def global_props_sql(links: str, repos: Sequence[str], paths: Sequence[str] | None) -> str:
    """Rows of `global_props` over the relation `links`: of definitions in these files, or in all of them."""
    inside = f"external IS NULL AND {in_list('repo', repos, 'duckdb')} AND dst_repo = repo"
    here = "TRUE" if paths is None else in_list("path", paths, "duckdb") if paths else "FALSE"
    there = "TRUE" if paths is None else in_list("dst_path", paths, "duckdb") if paths else "FALSE"
    steps = [
        f"SELECT repo, dst_path AS path, dst_def AS def_id, '{name}' AS name, {measure} AS value FROM {links} "
        f"WHERE kind = '{kind}' AND dst_n = 0 AND {inside} AND {there} GROUP BY ALL"
        for name, kind, measure in _INCOMING
    ]
    steps.append(
        "SELECT repo, path, src_def AS def_id, 'callees' AS name, "
        f"count(DISTINCT (dst_repo, dst_path, dst_def)) AS value FROM {links} "
        f"WHERE kind = 'CALL' AND {in_list('repo', repos, 'duckdb')} AND {here} GROUP BY ALL"
    )
    united = " UNION ALL ".join(steps)
    return f"SELECT repo, path, def_id, name, CAST(value AS VARCHAR) AS value FROM ({united}) ORDER BY ALL"
