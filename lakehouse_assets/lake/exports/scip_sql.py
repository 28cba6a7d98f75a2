"""What the SCIP export asks of the graph, in DuckDB's SQL. `repo` is a literal throughout."""

from lakehouse_assets.link.rows import MODULE

_SURE = "confidence <> 'guess'"
_CALLED = "('func', 'function', 'name', 'constructor', 'type', 'macro', 'method')"
"""Labels of the syntax in a call that names what is called."""

PLACES = (
    # An import of a name refers to the name, and not to its module as well.
    # What edges of the group start from or lead to, with lines as the file has them, from 0.
    f"""
    CREATE OR REPLACE TABLE g_references AS
    SELECT * FROM g_edges WHERE kind IN ('REF', 'CALL', 'IMPORT', 'INHERITS') AND src_n > 0 AND {_SURE}
      AND NOT (kind = 'IMPORT' AND label = '{MODULE}')
    """,
    f"""
    CREATE OR REPLACE TABLE g_called AS
    SELECT path, src_def, src_n, min(dst_n) AS n FROM g_edges
    WHERE kind = 'AST' AND label IN {_CALLED} AND dst_def = src_def
      AND (path, src_def, src_n) IN (SELECT (path, src_def, src_n) FROM g_references WHERE kind = 'CALL')
    GROUP BY ALL
    """,
    """
    CREATE OR REPLACE TABLE g_places AS
    WITH wanted AS (
        SELECT path, src_def AS def_id, src_n AS n FROM g_references
        UNION SELECT path, src_def, n FROM g_called
        UNION SELECT dst_path, dst_def, dst_n FROM g_references WHERE dst_n > 0 AND dst_path = path AND dst_repo = repo
        UNION SELECT d.path, v.def_id, v.n FROM variables v JOIN g_definitions d USING (repo, def_id)
    )
    SELECT n.path, n.def_id, n.n, n.kind, n.name, n.col, n.end_col,
        n.line + first AS line, n.end_line + first AS end_line
    FROM (
        SELECT n.*, -1 + CASE WHEN d.parent_id IS NOT NULL THEN d.line WHEN n.anchor > 0 THEN a.line ELSE 0 END AS first
        FROM g_nodes n SEMI JOIN wanted USING (path, def_id, n)
        JOIN g_definitions d USING (path, def_id)
        LEFT JOIN g_nodes a ON a.path = n.path AND a.def_id = n.def_id AND a.n = n.anchor
    ) n
    """,
)

GROUP_DEFINITIONS = """
    SELECT d.path, s.symbol, d.kind, d.name, coalesce(p.kind, ''), d.signature, d.docstring,
        d.line - 1, d.col, d.end_line - 1, d.end_col
    FROM g_definitions d JOIN symbols s USING (repo, def_id)
    LEFT JOIN g_definitions p ON p.path = d.path AND p.def_id = d.parent_id
    ORDER BY d.path, d.line, d.col, s.symbol
"""


def definitions(repo: str) -> str:
    """All definitions of the repository, and those of others that it refers to."""
    return f"""
        SELECT d.repo, d.path, d.def_id, d.symbol, s.language
        FROM definitions d LEFT JOIN snapshots s USING (repo, path)
        WHERE d.repo = {repo} OR (d.repo, d.def_id) IN (
            SELECT (dst_repo, dst_def) FROM edges WHERE repo = {repo} AND dst_repo <> {repo})
        ORDER BY d.repo, d.path, d.def_id
    """


def variables(repo: str) -> str:
    """Nodes that bind a name in a file or class, in the order of the text, and whether another file refers to it."""
    return f"""
        WITH targets AS (
            SELECT dst_repo AS repo, dst_path AS path, dst_def AS def_id, dst_n AS n,
                bool_or(path <> dst_path OR repo <> dst_repo) AS crosses
            FROM edges WHERE repo = {repo} AND kind = 'REF' AND dst_n > 0 AND {_SURE} GROUP BY ALL
        )
        SELECT t.repo, t.def_id, t.n, v.kind, v.name, t.crosses
        FROM targets t
        JOIN definitions d USING (repo, path, def_id)
        JOIN nodes v USING (repo, path, def_id, n)
        WHERE v.name IS NOT NULL AND (d.parent_id IS NULL OR d.kind = 'class')
        ORDER BY t.repo, t.path, t.def_id, t.n
    """


def externals(repo: str) -> str:
    return f"""
        SELECT DISTINCT def_id, name FROM nodes
        WHERE repo = {repo} AND kind = 'EXTERNAL' AND name IS NOT NULL ORDER BY name
    """


def texts(repo: str) -> str:
    return f"""
        SELECT s.path, s.language, b.text FROM snapshots s JOIN blobs b USING (blob_sha)
        WHERE s.repo = {repo} AND s.path IN (SELECT path FROM definitions WHERE repo = {repo})
        ORDER BY s.path
    """


def group_variables(repo: str) -> str:
    return f"""
        SELECT p.path, v.symbol, p.kind, p.name, p.line, p.col, p.end_line, p.end_col
        FROM variables v JOIN g_places p USING (def_id, n) WHERE v.repo = {repo}
        ORDER BY p.path, p.line, p.col, v.symbol
    """


def group_references(repo: str) -> str:
    """Each with the symbol it leads to; without one, with the binding in the same file.

    What refers to an import leads to what was imported, where that is one thing and the import binds its name:
    `import a.b` binds another.
    """
    return f"""
        WITH led AS (
            SELECT r.*, coalesce(v.symbol, CASE WHEN r.dst_n = 0 THEN coalesce(s.symbol, x.symbol) END) AS symbol
            FROM g_references r
            LEFT JOIN symbols s ON s.repo = r.dst_repo AND s.def_id = r.dst_def
            LEFT JOIN variables v ON v.repo = r.dst_repo AND v.def_id = r.dst_def AND v.n = r.dst_n
            LEFT JOIN externals x ON x.def_id = r.dst_def
        ), imported AS (
            SELECT i.path, i.src_def, i.src_n, min(i.symbol) AS symbol FROM led i
            JOIN g_places a ON a.path = i.path AND a.def_id = i.src_def AND a.n = i.src_n
            WHERE i.kind = 'IMPORT' AND a.kind = 'alias' AND (a.name LIKE '% as %' OR a.name NOT LIKE '%.%')
            GROUP BY ALL HAVING count(DISTINCT i.symbol) = 1
        )
        SELECT r.path, r.kind, w.kind, w.name, w.line, w.col, w.end_line, w.end_col,
            coalesce(i.symbol, r.symbol), coalesce(b.kind = 'alias', FALSE) AND i.symbol IS NULL,
            b.kind, b.name, b.line, b.col, b.end_line, b.end_col
        FROM led r
        LEFT JOIN g_called c ON r.kind = 'CALL' AND c.path = r.path AND c.src_def = r.src_def AND c.src_n = r.src_n
        JOIN g_places w ON w.path = r.path AND w.def_id = r.src_def AND w.n = coalesce(c.n, r.src_n)
        LEFT JOIN g_places b ON r.dst_repo = {repo} AND b.path = r.path AND r.dst_path = r.path
            AND b.def_id = r.dst_def AND b.n = r.dst_n
        LEFT JOIN imported i ON b.kind = 'alias' AND i.path = b.path AND i.src_def = b.def_id AND i.src_n = b.n
        ORDER BY r.path, w.line, w.col
    """


def group_relations(repo: str) -> str:
    return f"""
        SELECT DISTINCT e.path, f.symbol, coalesce(s.symbol, x.symbol) AS target, e.kind = 'OVERRIDES'
        FROM g_edges e
        JOIN symbols f ON f.repo = {repo} AND f.def_id = e.src_def
        LEFT JOIN symbols s ON s.repo = e.dst_repo AND s.def_id = e.dst_def
        LEFT JOIN externals x ON x.def_id = e.dst_def
        WHERE e.kind IN ('INHERITS', 'OVERRIDES') AND e.dst_n = 0 AND {_SURE} AND target IS NOT NULL
        ORDER BY ALL
    """
