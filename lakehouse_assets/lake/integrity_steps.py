"""The SQL of what has to hold between tables: each gives rows that break a rule, with what is wrong and how many."""

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.edges import EDGES
from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.plan.relational_step import RelationalStep, over

# Any table whose rows belong to files can stand for {rows}.
OWNERS_GONE = RelationalStep(
    name="owners_gone",
    sql="""
        SELECT r.repo, r.path, 'the file is not in snapshots' AS broken, count(*) AS rows
        FROM {rows} AS r ANTI JOIN {snapshots} AS f ON f.repo = r.repo AND f.path = r.path
        GROUP BY r.repo, r.path
    """,
    inputs=over(SNAPSHOTS, rows=DEFINITIONS),
)

FILES_WITHOUT_ROWS = RelationalStep(
    name="files_without_rows",
    sql="""
        SELECT f.repo, f.path, 'the file is in snapshots and has no row here' AS broken, 1 AS rows
        FROM {snapshots} AS f ANTI JOIN {rows} AS r ON r.repo = f.repo AND r.path = f.path
        WHERE f.kind IN ('file', 'executable')
    """,
    inputs=over(SNAPSHOTS, rows=DEFINITIONS),
)

CONTENTS_MISSING = RelationalStep(
    name="contents_missing",
    sql="""
        SELECT f.repo, f.path, 'its content ' || f.blob_sha || ' is not in blobs' AS broken, 1 AS rows
        FROM {snapshots} AS f ANTI JOIN {blobs} AS b ON b.blob_sha = f.blob_sha
        WHERE f.kind IN ('file', 'executable')
    """,
    inputs=over(SNAPSHOTS, BLOBS),
)

# Nodes are compared by hashes of 64 bits: those of millions fit into memory where the nodes themselves do not, and that
# one hides what is missing is not to be expected in any lake's life. Both questions at once would want twice as much.
STARTS_MISSING = RelationalStep(
    name="starts_missing",
    sql="""
        SELECT e.repo, e.path, e.kind || ' starts from a node that is not there' AS broken, count(*) AS rows
        FROM {edges} AS e ANTI JOIN {nodes} AS n
          ON hash(n.repo, n.path, n.def_id, n.n) = hash(e.repo, e.path, e.src_def, e.src_n)
        GROUP BY e.repo, e.path, e.kind
    """,
    inputs=over(EDGES, NODES),
)

ENDS_MISSING = RelationalStep(
    name="ends_missing",
    sql="""
        SELECT e.repo, e.path, e.kind || ' leads to a node that is not there' AS broken, count(*) AS rows
        FROM {edges} AS e ANTI JOIN {nodes} AS n
          ON hash(n.repo, n.path, n.def_id, n.n) = hash(e.dst_repo, e.dst_path, e.dst_def, e.dst_n)
        GROUP BY e.repo, e.path, e.kind
    """,
    inputs=over(EDGES, NODES),
)

INTEGRITY_STEPS = (OWNERS_GONE, FILES_WITHOUT_ROWS, CONTENTS_MISSING, STARTS_MISSING, ENDS_MISSING)
