"""The lives of definitions and relationships, brought from one commit to the next.

Invariant: of one thing at most one life is open, and it is open exactly while the thing is there. What is in the
present and has no open life begins one; an open life of what is no longer present ends. All else stays as it is, so
that an update writes rows for what came and went, and doing it twice changes nothing.
"""

from lakehouse_assets.contracts.definition_lifetimes import DEFINITION_LIFETIMES, LIFE, SPAN
from lakehouse_assets.contracts.edge_lifetimes import EDGE_LIFETIMES
from lakehouse_assets.contracts.table import TableContract

PRESENT_DEFINITIONS = """
SELECT repo, path, def_id, symbol, kind, qualified_name FROM {definitions}"""

PRESENT_EDGES = """
SELECT DISTINCT l.repo, l.path, l.kind, coalesce(l.caller_def, l.src_def) AS src_def, l.dst_repo, l.dst_path, l.dst_def,
  s.qualified_name AS source, coalesce(l.external, t.qualified_name) AS target
FROM {links} AS l
LEFT JOIN {definitions} AS s ON s.repo = l.repo AND s.path = l.path AND s.def_id = coalesce(l.caller_def, l.src_def)
LEFT JOIN {definitions} AS t ON t.repo = l.dst_repo AND t.path = l.dst_path AND t.def_id = l.dst_def"""


def lifetimes_sql(contract: TableContract, *, stored: str, present: str, commit: str, previous: str) -> str:
    """All lives of the things that `stored` and `present` have, as they are at `commit`.

    `commit` and `previous`, the commit that was read before it, are SQL values.
    """
    apart = {each.name for each in (*LIFE, *SPAN)}
    identity = [name for name in contract.key if name not in apart]
    told = [name for name in contract.column_names if name not in apart and name not in identity]
    same = ", ".join(identity)

    def of(relation: str, names: list[str]) -> str:
        return ", ".join(f"{relation}.{name}" for name in names)

    return f"""
SELECT {of("s", identity)}, s.life, {of("s", told)}, s.first_commit, s.after_commit,
  CASE WHEN s.ends THEN {previous} ELSE s.last_commit END AS last_commit,
  CASE WHEN s.ends THEN {commit} ELSE s.removed_in END AS removed_in
FROM (
  SELECT o.*, o.removed_in IS NULL AND p.repo IS NULL AS ends
  FROM {stored} AS o LEFT JOIN {present} AS p USING ({same})
) AS s
UNION ALL
SELECT {of("p", identity)}, CAST(coalesce(e.lives, 0) + 1 AS INTEGER) AS life, {of("p", told)},
  {commit} AS first_commit, {previous} AS after_commit, NULL AS last_commit, NULL AS removed_in
FROM {present} AS p
LEFT JOIN (
  SELECT {same}, max(life) AS lives, bool_or(removed_in IS NULL) AS is_open FROM {stored} GROUP BY ALL
) AS e USING ({same})
WHERE e.is_open IS NOT TRUE"""


def definition_lifetimes_sql(*, stored: str, present: str, commit: str, previous: str) -> str:
    return lifetimes_sql(DEFINITION_LIFETIMES, stored=stored, present=present, commit=commit, previous=previous)


def edge_lifetimes_sql(*, stored: str, present: str, commit: str, previous: str) -> str:
    return lifetimes_sql(EDGE_LIFETIMES, stored=stored, present=present, commit=commit, previous=previous)
