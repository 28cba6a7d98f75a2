"""When a definition and the relationships around it came and went. No JVM.

Cost: the lives of the definitions of that name, the lives of relationships in their repositories, and the dates of
commits.
"""

from collections.abc import Sequence
from typing import Any

from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.definition_lifetimes import DEFINITION_LIFETIMES
from lakehouse_assets.contracts.edge_lifetimes import EDGE_LIFETIMES
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.local_engine import LocalEngine, local_engine
from lakehouse_assets.lake.published_graph import newest_graph
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import in_list, literal

_NAMED = """
SELECT * FROM {definition_lifetimes}
WHERE (qualified_name = {text} OR ends_with(qualified_name, '.' || {text}) OR symbol = {text}) AND {in_repo}"""

_AROUND = """
WITH called AS (
  SELECT repo, path, def_id, arg_max(qualified_name, life) AS qualified_name FROM {definition_lifetimes} GROUP BY ALL
)
SELECT DISTINCT e.*, s.qualified_name AS source, coalesce(e.external, t.qualified_name) AS target
FROM {edge_lifetimes} AS e
JOIN {named} AS d
  ON (e.repo = d.repo AND e.path = d.path AND e.src_def = d.def_id)
  OR (e.dst_repo = d.repo AND e.dst_path = d.path AND e.dst_def = d.def_id)
LEFT JOIN called AS s ON s.repo = e.repo AND s.path = e.path AND s.def_id = e.src_def
LEFT JOIN called AS t ON t.repo = e.dst_repo AND t.path = e.dst_path AND t.def_id = e.dst_def
WHERE {of_kind}"""

_LIVES = """
SELECT l.repo, l.path, {what}, l.life, l.first_commit, l.after_commit, l.last_commit, l.removed_in,
  born.committed_at AS first_at, died.committed_at AS removed_at
FROM {lives} AS l
LEFT JOIN {commits} AS born ON born.repo = l.repo AND born.commit_sha = l.first_commit
LEFT JOIN {commits} AS died ON died.repo = l.repo AND died.commit_sha = l.removed_in
ORDER BY l.repo, l.path, {what}, l.life"""


def lives_of(
    lake: Lake, text: str, *, repo: str | None = None, kinds: Sequence[str] = ()
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The lives of the definitions that `text` names, and of the relationships from and to them."""
    graph = newest_graph(lake)
    if repo is not None:
        graph.require(repo)
    tables = {each.name: graph.relation(each) for each in (DEFINITION_LIFETIMES, EDGE_LIFETIMES, COMMITS)}
    values = {
        "text": literal(text, "duckdb"),
        "in_repo": "TRUE" if repo is None else f"repo = {literal(repo, 'duckdb')}",
        "of_kind": in_list("e.kind", kinds, "duckdb") if kinds else "TRUE",
    }
    with local_engine() as engine:
        named, found = engine.keep("named", _NAMED.format(**tables, **values))
        if not found:
            raise _unknown(text, repo)
        around, _ = engine.keep("around", _AROUND.format(**tables, **values, named=named))
        return (
            _lives(engine, tables, named, ("symbol", "kind", "qualified_name")),
            _lives(engine, tables, around, ("kind", "source", "dst_repo", "target")),
        )


def _lives(engine: LocalEngine, tables: dict[str, str], lives: str, names: Sequence[str]) -> list[dict[str, Any]]:
    what = ", ".join(f"l.{name}" for name in names)
    return engine.ask(_LIVES.format(**tables, lives=lives, what=what))


def _unknown(text: str, repo: str | None) -> BadInputError:
    return BadInputError(
        subject=f"symbol {text!r}",
        seen="no definition of this name was ever seen" + (f" in {repo!r}" if repo else ""),
        why="there is nothing to tell",
        remedy="give a dotted name or the end of one, such as Flask.run; `lakehouse definitions` finds present ones",
    )
