"""Nodes and edges as graph tools want them: one id for a node, both ends of every edge among the nodes.

What is outside all repositories is one node, however many files name it. Nodes of other repositories that edges lead
to are told of as well, so that no end is missing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.lake.exports.graph import Graph

NODE_FIELDS = ("id", "repo", "path", "kind", "name", "qualified_name", "line", "col", "end_line", "end_col")
EDGE_FIELDS = ("source", "target", "kind", "label", "method", "confidence")
NUMBERS = ("line", "col", "end_line", "end_col")


class Sink(Protocol):
    """Takes all nodes, then all edges."""

    def nodes(self, rows: pa.RecordBatch) -> None: ...

    def edges(self, rows: pa.RecordBatch) -> None: ...


@dataclass(frozen=True, kw_only=True)
class PropertyGraphExport:
    nodes: int
    edges: int


def feed(graph: Graph, sink: Sink) -> PropertyGraphExport:
    """Hand the whole graph over, batch by batch; twice over the groups, as formats have nodes before edges."""
    nodes = edges = 0
    graph.sql.execute(_EXTERNALS.format(repo=graph.repo))
    for batch in _nodes(graph):
        sink.nodes(batch)
        nodes += batch.num_rows
    for paths in graph.groups():
        for batch in graph.batches(_EDGES.format(repo=graph.repo)):
            sink.edges(batch)
            edges += batch.num_rows
        report("export", graph.name, "edges written", files=len(paths), edges=edges)
    return PropertyGraphExport(nodes=nodes, edges=edges)


def _nodes(graph: Graph) -> Iterator[pa.RecordBatch]:
    yield from graph.batches(_EXTERNAL_NODES)
    yield from graph.batches(_FOREIGN_NODES.format(repo=graph.repo))
    for paths in graph.groups():
        yield from graph.batches(_OWN_NODES)
        report("export", graph.name, "nodes written", files=len(paths))


_NODE_ID = "{of}.repo || '/' || {of}.def_id || ':' || {of}.n"

_EXTERNALS = """
    CREATE OR REPLACE TABLE externals AS
    SELECT DISTINCT def_id, name FROM nodes WHERE repo = {repo} AND kind = 'EXTERNAL'
"""

_EXTERNAL_NODES = """
    SELECT 'external/' || def_id AS id, NULL::VARCHAR AS repo, NULL::VARCHAR AS path, 'EXTERNAL' AS kind, name,
        name AS qualified_name, NULL::INTEGER AS line, NULL::INTEGER AS col, NULL::INTEGER AS end_line,
        NULL::INTEGER AS end_col
    FROM externals ORDER BY name, def_id
"""

# Definitions have their place in `definitions`, other nodes relative to one.
_PLACED = """
    SELECT {id} AS id, n.repo, n.path, n.kind, CASE WHEN n.n = 0 THEN d.name ELSE n.name END AS name,
        CASE WHEN n.n = 0 THEN d.qualified_name END AS qualified_name,
        CASE WHEN n.n = 0 THEN d.line ELSE n.line + first END AS line, n.col,
        CASE WHEN n.n = 0 THEN d.end_line ELSE n.end_line + first END AS end_line, n.end_col
    FROM (
        SELECT n.*, CASE WHEN d.parent_id IS NOT NULL THEN d.line WHEN n.anchor > 0 THEN a.line ELSE 0 END AS first
        FROM {nodes} n JOIN {definitions} d USING (repo, path, def_id)
        LEFT JOIN {nodes} a ON a.repo = n.repo AND a.path = n.path AND a.def_id = n.def_id AND a.n = n.anchor
        WHERE n.kind <> 'EXTERNAL'
    ) n JOIN {definitions} d USING (repo, path, def_id)
    ORDER BY n.repo, n.path, d.line, d.col, n.def_id, n.n
"""

_OWN_NODES = _PLACED.format(id=_NODE_ID.format(of="n"), nodes="g_nodes", definitions="g_definitions")

_FOREIGN_NODES = """
    WITH targets AS (
        SELECT DISTINCT dst_repo AS repo, dst_path AS path, dst_def AS def_id FROM edges
        WHERE repo = {repo} AND dst_repo <> {repo}
    ), foreign_nodes AS (
        SELECT n.* FROM nodes n SEMI JOIN targets USING (repo, path, def_id) WHERE n.repo <> {repo}
    ), wanted AS (
        SELECT n.* FROM foreign_nodes n SEMI JOIN edges e ON e.repo = {repo} AND e.dst_repo = n.repo
            AND e.dst_path = n.path AND e.dst_def = n.def_id AND e.dst_n = n.n
    ), foreign_definitions AS (
        SELECT d.* FROM definitions d SEMI JOIN targets USING (repo, path, def_id) WHERE d.repo <> {repo}
    )
    SELECT * FROM (PLACED) SEMI JOIN (SELECT ID AS id FROM wanted w) USING (id) ORDER BY id
""".replace("ID AS", _NODE_ID.format(of="w") + " AS").replace(
    "PLACED", _PLACED.format(id=_NODE_ID.format(of="n"), nodes="foreign_nodes", definitions="foreign_definitions")
)

_EDGES = """
    SELECT e.repo || '/' || e.src_def || ':' || e.src_n AS source,
        CASE WHEN x.def_id IS NOT NULL THEN 'external/' || e.dst_def
            ELSE e.dst_repo || '/' || e.dst_def || ':' || e.dst_n END AS target,
        e.kind, e.label, e.method, e.confidence
    FROM g_edges e LEFT JOIN externals x ON x.def_id = e.dst_def AND e.dst_n = 0 AND e.dst_repo = {repo}
    ORDER BY e.path, e.src_def, e.src_n, e.kind, target, e.label
"""
