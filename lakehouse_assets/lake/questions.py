"""What people ask of the graph: who calls, who imports, where is it defined, who refers to it. No JVM.

Invariant: an answer is a pure query over the tables as they were published; each names file, line, and how sure it is.
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
from lakehouse_assets.lake.local_sql import new_database
from lakehouse_assets.lake.published_graph import PublishedGraph, newest_graph
from lakehouse_assets.lake.question_steps import (
    DEFINITIONS_NAMED,
    EDGES_INTO,
    EDGES_OUT_OF,
    INCOMING,
    OUTGOING,
    OUTSIDE_NAMED,
    PLACED_EDGES,
)
from lakehouse_assets.lake.tables import Lake

Question = Literal["callers", "callees", "importers", "references"]

_KINDS: dict[Question, tuple[str, ...]] = {
    "callers": ("CALL",),
    "callees": ("CALL",),
    "importers": ("IMPORT",),
    "references": ("REF", "CALL", "IMPORT", "INHERITS"),
}

_READ = (DEFINITIONS, NODES, EDGES)
_NAMES = {name: name for name in (*(each.name for each in _READ), "asked")}
"""The views and the table that a connection has."""

_NEAREST = 3


class Questions:
    """A connection over the graph's tables at the commits that were published last."""

    def __init__(self, graph: PublishedGraph, connection: duckdb.DuckDBPyConnection) -> None:
        self._graph = graph
        self._connection = connection
        for contract in _READ:
            connection.execute(f"CREATE VIEW {contract.name} AS FROM {graph.relation(contract)}")

    @property
    def notes(self) -> tuple[str, ...]:
        """What answers leave out."""
        return self._graph.notes

    def definitions(self, text: str, *, repo: str | None = None) -> list[dict[str, Any]]:
        """Definitions whose qualified name is `text` or ends with it, or whose symbol it is; refused if none is."""
        if repo is not None:
            self._graph.require(repo)
        found = self._rows(DEFINITIONS_NAMED.text(_NAMES), text=text, repo=repo)
        if not found:
            raise self._unknown(text, repo)
        return found

    def ask(self, question: Question, text: str, *, repo: str | None = None) -> list[dict[str, Any]]:
        """The edges that answer the question for the definitions that `text` names, or for something outside."""
        targets = self._targets(question, text, repo)
        self._connection.execute("CREATE OR REPLACE TEMP TABLE asked (repo VARCHAR, path VARCHAR, def_id BIGINT)")
        self._connection.executemany("INSERT INTO asked VALUES (?, ?, ?)", targets)
        wanted, answer = (EDGES_OUT_OF, OUTGOING) if question == "callees" else (EDGES_INTO, INCOMING)
        placed = PLACED_EDGES.text({**_NAMES, "wanted": f"({wanted.text(_NAMES)})"})
        return self._rows(answer.text({**_NAMES, PLACED_EDGES.name: f"({placed})"}), kinds=list(_KINDS[question]))

    def _targets(self, question: Question, text: str, repo: str | None) -> Sequence[tuple[str, str, int]]:
        outside = self._rows(OUTSIDE_NAMED.text(_NAMES), text=text)
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
            remedy="; ".join(
                (f"did you mean {', '.join(near)}?" if near else "is the repository synced?", *self._graph.notes)
            ),
        )

    def _rows(self, query: str, **parameters: Any) -> list[dict[str, Any]]:
        used = {key: value for key, value in parameters.items() if f"${key}" in query}
        result = self._connection.execute(query, used)
        names = [column[0] for column in result.description or []]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


@contextmanager
def questions(lake: Lake) -> Iterator[Questions]:
    with new_database() as connection:
        yield Questions(newest_graph(lake), connection)
