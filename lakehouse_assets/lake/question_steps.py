"""The SQL of what people ask of the graph. `$text`, `$repo` and `$kinds` are given with the question."""

from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.edges import EDGES
from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.plan.relational_step import RelationalStep, over

DEFINITIONS_NAMED = RelationalStep(
    name="definitions_named",
    sql="""
        SELECT repo, path, line, kind, qualified_name, signature, symbol, def_id FROM {definitions}
        WHERE (qualified_name = $text OR ends_with(qualified_name, '.' || $text) OR symbol = $text)
          AND ($repo IS NULL OR repo = $repo)
        ORDER BY repo, path, line
    """,
    inputs=over(DEFINITIONS),
)

OUTSIDE_NAMED = RelationalStep(
    name="outside_named",
    sql="""
        SELECT repo, path, def_id FROM {nodes}
        WHERE kind = 'EXTERNAL' AND name IN ($text, '<builtin>.' || $text)
    """,
    inputs=over(NODES),
)

EDGES_INTO = RelationalStep(
    name="edges_into",
    sql="""
        SELECT e.* FROM {edges} AS e
        JOIN {asked} AS t ON e.dst_repo = t.repo AND e.dst_path = t.path AND e.dst_def = t.def_id
        WHERE list_contains($kinds, e.kind) AND e.dst_n = 0
    """,
    inputs=over(EDGES, asked=DEFINITIONS_NAMED),
)

EDGES_OUT_OF = RelationalStep(
    name="edges_out_of",
    sql="""
        SELECT e.* FROM {edges} AS e
        JOIN {asked} AS t ON e.repo = t.repo AND e.path = t.path AND coalesce(e.caller_def, e.src_def) = t.def_id
        WHERE list_contains($kinds, e.kind)
    """,
    inputs=over(EDGES, asked=DEFINITIONS_NAMED),
)

# Where the source nodes are: a line counts from its anchor's, that from the definition's, and a file's from 0.
PLACED_EDGES = RelationalStep(
    name="placed_edges",
    sql="""
        SELECT e.*, n.col AS col, n.line + coalesce(a.line, 0) + CASE WHEN d.parent_id IS NULL THEN 0 ELSE d.line END
          AS line, s.qualified_name AS source
        FROM {wanted} AS e
        JOIN {nodes} AS n ON n.repo = e.repo AND n.path = e.path AND n.def_id = e.src_def AND n.n = e.src_n
        LEFT JOIN {nodes} AS a
          ON n.anchor > 0 AND a.repo = e.repo AND a.path = e.path AND a.def_id = e.src_def AND a.n = n.anchor
        JOIN {definitions} AS d ON d.repo = e.repo AND d.path = e.path AND d.def_id = e.src_def
        JOIN {definitions} AS s
          ON s.repo = e.repo AND s.path = e.path AND s.def_id = coalesce(e.caller_def, e.src_def)
    """,
    inputs=over(NODES, DEFINITIONS, wanted=(EDGES_INTO, EDGES_OUT_OF)),
)

INCOMING = RelationalStep(
    name="incoming",
    sql="SELECT repo, path, line, col, source, kind, method, confidence FROM {placed_edges} ORDER BY ALL",
    inputs=over(PLACED_EDGES),
)

OUTGOING = RelationalStep(
    name="outgoing",
    sql="""
        SELECT p.repo, p.path, p.line, p.col, coalesce(t.qualified_name, x.name) AS target,
          p.kind, p.method, p.confidence
        FROM {placed_edges} AS p
        LEFT JOIN {definitions} AS t ON t.repo = p.dst_repo AND t.path = p.dst_path AND t.def_id = p.dst_def
        LEFT JOIN {nodes} AS x
          ON x.kind = 'EXTERNAL' AND x.repo = p.dst_repo AND x.path = p.dst_path AND x.def_id = p.dst_def
        ORDER BY ALL
    """,
    inputs=over(PLACED_EDGES, DEFINITIONS, NODES),
)

QUESTION_STEPS = (DEFINITIONS_NAMED, OUTSIDE_NAMED, EDGES_INTO, EDGES_OUT_OF, PLACED_EDGES, INCOMING, OUTGOING)
