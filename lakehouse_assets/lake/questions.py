"""What people ask of the graph: who calls, who imports, where is it defined, who refers to it. No JVM.

Invariant: an answer is a pure query over the tables as they are; each names file, line, and how sure it is.
Cost: the columns of `edges` that the question needs, for all repositories, and the nodes that the answer names.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, Literal

import duckdb

from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.edges import EDGES
from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.tables import Lake

Question = Literal["callers", "callees", "importers", "references"]

_KINDS: dict[Question, tuple[str, ...]] = {
    "callers": ("CALL",),
    "callees": ("CALL",),
    "importers": ("IMPORT",),
    "references": ("REF", "CALL", "IMPORT", "INHERITS"),
}

_NEAREST = 3


class Questions:
    """A connection over the graph's tables at one moment."""

    def __init__(self, lake: Lake, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        for contract in (DEFINITIONS, NODES, EDGES):
            connection.execute(f"CREATE VIEW {contract.name} AS FROM {relation(lake, contract)}")

    def definitions(self, text: str, *, repo: str | None = None) -> list[dict[str, Any]]:
        """Definitions whose qualified name is `text` or ends with it, or whose symbol it is; refused if none is."""
        found = self._rows(
            "SELECT repo, path, line, kind, qualified_name, signature, symbol, def_id FROM definitions "
            "WHERE (qualified_name = $text OR ends_with(qualified_name, '.' || $text) OR symbol = $text) "
            "AND ($repo IS NULL OR repo = $repo) ORDER BY repo, path, line",
            text=text,
            repo=repo,
        )
        if not found:
            raise self._unknown(text, repo)
        return found

    def ask(self, question: Question, text: str, *, repo: str | None = None) -> list[dict[str, Any]]:
        """The edges that answer the question for the definitions that `text` names, or for something outside."""
        targets = self._targets(question, text, repo)
        self._connection.execute("CREATE OR REPLACE TEMP TABLE asked (repo VARCHAR, path VARCHAR, def_id BIGINT)")
        self._connection.executemany("INSERT INTO asked VALUES (?, ?, ?)", targets)
        return self._rows(_OUTGOING if question == "callees" else _INCOMING, kinds=list(_KINDS[question]))

    def _targets(self, question: Question, text: str, repo: str | None) -> Sequence[tuple[str, str, int]]:
        outside = self._rows(
            "SELECT repo, path, def_id FROM nodes WHERE kind = 'EXTERNAL' AND name IN ($text, '<builtin>.' || $text)",
            text=text,
        )
        if outside and question != "callees":
            return [(row["repo"], row["path"], row["def_id"]) for row in outside]
        return [(row["repo"], row["path"], row["def_id"]) for row in self.definitions(text, repo=repo)]

    def _unknown(self, text: str, repo: str | None) -> BadInputError:
        last = text.rpartition(".")[2]
        names = [
            row["qualified_name"]
            for row in self._rows(
                "SELECT DISTINCT qualified_name FROM definitions WHERE $repo IS NULL OR repo = $repo", repo=repo
            )
        ]
        by_last = {name.rpartition(".")[2]: name for name in names}
        near = [by_last[each] for each in get_close_matches(last, by_last, n=_NEAREST)]
        return BadInputError(
            subject=f"symbol {text!r}",
            seen="no definition has this name" + (f" in {repo!r}" if repo else ""),
            why="there is nothing to answer for",
            remedy=f"did you mean {', '.join(near)}?" if near else "see `lakehouse tables`: is the repository synced?",
        )

    def _rows(self, query: str, **parameters: Any) -> list[dict[str, Any]]:
        used = {key: value for key, value in parameters.items() if f"${key}" in query}
        result = self._connection.execute(query, used)
        names = [column[0] for column in result.description or []]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


@contextmanager
def questions(lake: Lake) -> Iterator[Questions]:
    with duckdb.connect() as connection:
        yield Questions(lake, connection)


_PLACED = """
found AS (
  SELECT e.*, n.anchor, n.line AS node_line, n.col AS node_col FROM wanted e
  JOIN nodes n ON n.repo = e.repo AND n.path = e.path AND n.def_id = e.src_def AND n.n = e.src_n
),
placed AS (
  SELECT f.*, f.node_line + coalesce(a.line, 0) AS line_in_def FROM found f
  LEFT JOIN nodes a ON f.anchor > 0 AND a.repo = f.repo AND a.path = f.path AND a.def_id = f.src_def AND a.n = f.anchor
)"""
"""Where the source nodes are: a line counts from its anchor's, that from the definition's, and a file's from 0."""

_INCOMING = f"""
WITH wanted AS (
  SELECT e.* FROM edges e JOIN asked t ON e.dst_repo = t.repo AND e.dst_path = t.path AND e.dst_def = t.def_id
  WHERE list_contains($kinds, e.kind) AND e.dst_n = 0
), {_PLACED}
SELECT p.repo, p.path, p.line_in_def + CASE WHEN d.parent_id IS NULL THEN 0 ELSE d.line END AS line,
  p.node_col AS col, d.qualified_name AS source, p.kind,
  p.method, p.confidence
FROM placed p JOIN definitions d ON d.repo = p.repo AND d.path = p.path AND d.def_id = p.src_def
ORDER BY ALL
"""

_OUTGOING = f"""
WITH wanted AS (
  SELECT e.* FROM edges e JOIN asked t ON e.repo = t.repo AND e.path = t.path AND e.src_def = t.def_id
  WHERE list_contains($kinds, e.kind)
), {_PLACED}
SELECT p.repo, p.path, p.line_in_def + CASE WHEN d.parent_id IS NULL THEN 0 ELSE d.line END AS line, p.node_col AS col,
  coalesce(target.qualified_name, outside.name) AS target, p.kind, p.method, p.confidence
FROM placed p JOIN definitions d ON d.repo = p.repo AND d.path = p.path AND d.def_id = p.src_def
LEFT JOIN definitions target ON target.repo = p.dst_repo AND target.path = p.dst_path AND target.def_id = p.dst_def
LEFT JOIN nodes outside ON outside.kind = 'EXTERNAL' AND outside.repo = p.dst_repo AND outside.path = p.dst_path
  AND outside.def_id = p.dst_def
ORDER BY ALL
"""
