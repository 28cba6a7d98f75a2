"""Who calls whom, as JSON in PyCG's shape: an object of callers, each with the list of its callees.

Cost: one pass over definitions and calls, whatever the number of repositories; memory holds one repository's.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.extract.symbols import symbol_of
from lakehouse_assets.lake.exports.atomic import atomic_file
from lakehouse_assets.lake.exports.graph import Tables, open_tables
from lakehouse_assets.lake.published_graph import newest_graph
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.link.callgraph import call_graph, dotted
from lakehouse_assets.plan.sql_text import in_list


@dataclass(frozen=True, kw_only=True)
class CallgraphExport:
    callers: int
    calls: int


def export_callgraphs(lake: Lake, outputs: Mapping[str, Path]) -> dict[str, CallgraphExport]:
    """Write each repository's call graph to its file; a repository without definitions gets an empty object."""
    done: dict[str, CallgraphExport] = {}
    with open_tables(newest_graph(lake)) as tables:
        definitions, calls = _by_repository(tables, _DEFINITIONS, outputs), _by_repository(tables, _CALLS, outputs)
        for repo in sorted(outputs):
            links = dict(zip(_LINK_COLUMNS, zip(*calls.at(repo), strict=True), strict=False))
            graph = call_graph(
                (
                    (def_id, parent_id, dotted(module, symbol.removeprefix(symbol_of(path, ""))), kind)
                    for def_id, parent_id, module, path, symbol, kind in definitions.at(repo)
                ),
                {name: links.get(name, ()) for name in _LINK_COLUMNS},
            )
            with atomic_file(outputs[repo]) as out:
                out.write(json.dumps(graph, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace") + b"\n")
            done[repo] = CallgraphExport(callers=len(graph), calls=sum(map(len, graph.values())))
            report("export", repo, "callgraph written", callers=done[repo].callers, calls=done[repo].calls)
    return done


class _Groups:
    """Rows that come in the order of repositories, taken one repository at a time."""

    def __init__(self, rows: Iterator[tuple[Any, ...]]) -> None:
        self._groups = groupby(rows, key=itemgetter(0))
        self._next = next(self._groups, None)

    def at(self, repo: str) -> list[tuple[Any, ...]]:
        """The repository's rows without its name; it has to be asked for in the order of names."""
        if self._next is None or self._next[0] != repo:
            return []
        rows = [row[1:] for row in self._next[1]]
        self._next = next(self._groups, None)
        return rows


def _by_repository(tables: Tables, query: str, outputs: Mapping[str, Path]) -> _Groups:
    return _Groups(tables.rows(query.format(among=in_list("repo", sorted(outputs), "duckdb"))) if outputs else iter(()))


_LINK_COLUMNS = ("kind", "caller_def", "dst_def", "external")

# Definitions of other repositories are told of where they are called.
_DEFINITIONS = """
    WITH own AS (
        SELECT repo AS of_repo, repo, path, def_id, parent_id, symbol, kind, line, col FROM definitions WHERE {among}
    ), called AS (
        SELECT DISTINCT repo AS of_repo, dst_repo AS repo, dst_path AS path, dst_def AS def_id FROM edges
        WHERE kind = 'CALL' AND confidence <> 'guess' AND dst_repo <> repo AND {among}
    ), known AS (
        FROM own UNION ALL BY NAME
        SELECT c.of_repo, d.repo, d.path, d.def_id, d.parent_id, d.symbol, d.kind, d.line, d.col
        FROM called c JOIN definitions d USING (repo, path, def_id)
    )
    SELECT k.of_repo, k.def_id, k.parent_id, m.qualified_name, k.path, k.symbol, k.kind
    FROM known k JOIN definitions m ON m.repo = k.repo AND m.path = k.path AND m.parent_id IS NULL
    ORDER BY k.of_repo, k.repo, k.path, k.line, k.col, k.def_id
"""

_CALLS = """
    SELECT e.repo, e.kind, e.caller_def, e.dst_def, x.name
    FROM edges e LEFT JOIN (SELECT repo, path, def_id, name FROM nodes WHERE kind = 'EXTERNAL') x
        ON x.repo = e.repo AND x.path = e.path AND x.def_id = e.dst_def AND e.dst_n = 0
    WHERE e.kind = 'CALL' AND e.confidence <> 'guess' AND e.{among}
    ORDER BY e.repo, e.path, e.src_def, e.src_n, e.dst_repo, e.dst_path, e.dst_def
"""
