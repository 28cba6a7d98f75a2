"""The lives of definitions and relationships, brought from one commit to the next.

Invariant: of one thing at most one life is open, and it is open exactly while the thing is there. What is in the
present and has no open life begins one; an open life of what is no longer present ends. An open life tells of its thing
what the present does, such as a name that a new source root gives it. All else stays as it is, so that an update writes
rows for what came, went or is called otherwise, and doing it twice changes nothing.
"""

from lakehouse_assets.contracts.definition_lifetimes import DEFINITION_LIFETIMES, LIFE, SPAN
from lakehouse_assets.contracts.edge_lifetimes import EDGE_LIFETIMES
from lakehouse_assets.contracts.table import TableContract

PRESENT_DEFINITIONS = """
SELECT repo, path, def_id, symbol, kind, qualified_name FROM {definitions}"""

PRESENT_EDGES = """
SELECT DISTINCT repo, path, kind, coalesce(caller_def, src_def) AS src_def, dst_repo, dst_path, dst_def, external
FROM {links}"""


def lifetimes_sql(contract: TableContract, *, stored: str, present: str, moments: str) -> str:
    """All lives of the things that `stored` and `present` have, as they are at their repositories' `moments`.

    These have `of_repo`, `to_commit`, and `from_commit`, which was read before it.
    """
    apart = {each.name for each in (*LIFE, *SPAN)}
    identity = [name for name in contract.key if name not in apart]
    told = [name for name in contract.column_names if name not in apart and name not in identity]
    same = ", ".join(identity)

    def of(relation: str, names: list[str]) -> str:
        return ", ".join(f"{relation}.{name}" for name in names)

    is_open = "o.removed_in IS NULL AND p.repo IS NOT NULL"
    current = ", ".join(f"CASE WHEN {is_open} THEN p.{name} ELSE o.{name} END AS {name}" for name in told)
    return f"""
SELECT {of("s", identity)}, s.life, {of("s", told)}, s.first_commit, s.after_commit,
  CASE WHEN s.ends THEN m.from_commit ELSE s.last_commit END AS last_commit,
  CASE WHEN s.ends THEN m.to_commit ELSE s.removed_in END AS removed_in
FROM (
  SELECT {of("o", [*identity, *sorted(apart)])}, {current},
    o.removed_in IS NULL AND p.repo IS NULL AS ends
  FROM {stored} AS o LEFT JOIN {present} AS p USING ({same})
) AS s
JOIN {moments} AS m ON m.of_repo = s.repo
UNION ALL
SELECT {of("p", identity)}, CAST(coalesce(e.lives, 0) + 1 AS INTEGER) AS life, {of("p", told)},
  m.to_commit AS first_commit, m.from_commit AS after_commit, NULL AS last_commit, NULL AS removed_in
FROM {present} AS p
JOIN {moments} AS m ON m.of_repo = p.repo
LEFT JOIN (
  SELECT {same}, max(life) AS lives, bool_or(removed_in IS NULL) AS is_open FROM {stored} GROUP BY ALL
) AS e USING ({same})
WHERE e.is_open IS NOT TRUE"""


def definition_lifetimes_sql(*, stored: str, present: str, moments: str) -> str:
    return lifetimes_sql(DEFINITION_LIFETIMES, stored=stored, present=present, moments=moments)


def edge_lifetimes_sql(*, stored: str, present: str, moments: str) -> str:
    return lifetimes_sql(EDGE_LIFETIMES, stored=stored, present=present, moments=moments)
