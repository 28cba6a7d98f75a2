"""What became of files and definitions, as relational steps: one joins two snapshots, the other two states of files.

What a join cannot find comes as a relation that Python makes, mostly an empty one: which files were renamed (see
`renames`) and which definitions moved (see `moves`). Both are matchings: of all that might belong together, each is
taken once, the closest first. SQL would need a recursion over the candidates for it, a step for each pair.
"""

from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.plan.relational_step import Made, RelationalStep, over

COMMITS_BETWEEN = Made(
    sources={
        "of_repo": "snapshots.repo",
        "from_commit": "commits.commit_sha",
        "to_commit": "commits.commit_sha",
    }
)
"""By repository the commit before an update and the one behind it."""

RENAMES = Made(
    sources={
        "repo": "snapshots.repo",
        "old_path": "snapshots.path",
        "path": "snapshots.path",
        "similarity": "snapshots.blob_sha blobs.text",
    }
)

# An old file is at the path that it was renamed to, or still at its own. What stays so is left out.
FILE_CHANGES_ROWS = RelationalStep(
    name="file_changes",
    sql="""
        SELECT coalesce(n.repo, o.repo) AS repo, coalesce(n.path, o.path) AS path,
          CASE WHEN o.path IS NULL THEN 'added' WHEN n.path IS NULL THEN 'deleted' WHEN o.path <> n.path THEN 'renamed'
            WHEN o.blob_sha <> n.blob_sha THEN 'modified' ELSE 'mode_changed' END AS change,
          o.path AS old_path, o.blob_sha AS old_blob, n.blob_sha AS new_blob, o.mode AS old_mode, n.mode AS new_mode,
          o.language AS old_language, n.language AS new_language, o.similarity,
          c.from_commit, c.to_commit
        FROM (
          SELECT b.repo, b.path, b.blob_sha, b.mode, b.language, r.similarity, coalesce(r.path, b.path) AS present_path
          FROM {before} AS b LEFT JOIN {renames} AS r ON r.repo = b.repo AND r.old_path = b.path
        ) AS o
        FULL JOIN {after} AS n ON n.repo = o.repo AND n.path = o.present_path
        JOIN {commits_between} AS c ON c.of_repo = coalesce(n.repo, o.repo)
        WHERE o.path IS NULL OR n.path IS NULL OR o.path <> n.path OR o.blob_sha <> n.blob_sha OR o.mode <> n.mode
        ORDER BY repo, path
    """,
    inputs=over(before=SNAPSHOTS, after=SNAPSHOTS, renames=RENAMES, commits_between=COMMITS_BETWEEN),
    output=FILE_CHANGES,
    assets=(FILE_CHANGES.name,),
)

_SYMBOL = "file_changes.path extracts.payload"
_OLD_SYMBOL = "file_changes.old_path extracts.payload"
_DEFINED = dict.fromkeys(("kind", "name", "line", "signature", "signature_hash", "body_hash"), "extracts.payload")

_COMMITS_OF_UPDATE = Made(
    sources={
        "of_repo": "file_changes.repo",
        "from_commit": "file_changes.from_commit",
        "to_commit": "file_changes.to_commit",
    }
)
OLD_DEFINITIONS = Made(
    sources={
        "repo": "file_changes.repo",
        "path": "file_changes.path",
        "old_path": "file_changes.old_path",
        "symbol": _OLD_SYMBOL,
        "def_id": _OLD_SYMBOL,
        "present_symbol": _SYMBOL,
        **_DEFINED,
    }
)
"""Definitions as they were. `path` is the file's present one, `present_symbol` what they are called if they stayed."""
NEW_DEFINITIONS = Made(
    sources={
        "repo": "file_changes.repo",
        "path": "file_changes.path",
        "symbol": _SYMBOL,
        "def_id": _SYMBOL,
        **_DEFINED,
    }
)
MOVES = Made(sources={"repo": "file_changes.repo", "old_symbol": _OLD_SYMBOL, "symbol": _SYMBOL})

DIFFS_ROWS = RelationalStep(
    name="diffs",
    sql="""
        SELECT coalesce(n.repo, o.repo) AS repo, coalesce(n.path, o.path) AS path,
          coalesce(n.symbol, o.symbol) AS symbol, coalesce(n.def_id, o.def_id) AS def_id,
          CASE WHEN o.symbol IS NULL THEN 'added' WHEN n.symbol IS NULL THEN 'removed'
            WHEN o.kind <> n.kind OR o.signature_hash <> n.signature_hash THEN 'signature_changed'
            WHEN o.body_hash <> n.body_hash THEN 'body_changed' ELSE 'moved' END AS change,
          coalesce(n.kind, o.kind) AS kind, coalesce(n.name, o.name) AS name,
          coalesce(o.body_hash <> n.body_hash, FALSE) AS body_differs, n.line, n.signature,
          o.old_path, o.symbol AS old_symbol, o.def_id AS old_def_id, o.line AS old_line, o.signature AS old_signature,
          c.from_commit, c.to_commit
        FROM (
          SELECT d.*, m.symbol IS NOT NULL AS has_moved, coalesce(m.symbol, d.present_symbol) AS now
          FROM {old_definitions} AS d LEFT JOIN {moves} AS m ON m.repo = d.repo AND m.old_symbol = d.symbol
        ) AS o
        FULL JOIN {new_definitions} AS n ON n.repo = o.repo AND n.symbol = o.now
        JOIN {commits_between} AS c ON c.of_repo = coalesce(n.repo, o.repo)
        WHERE o.symbol IS NULL OR n.symbol IS NULL OR o.symbol <> n.symbol OR o.has_moved
          OR o.kind <> n.kind OR o.signature_hash <> n.signature_hash OR o.body_hash <> n.body_hash
        ORDER BY repo, path, coalesce(n.line, o.line), symbol
    """,
    inputs=over(
        old_definitions=OLD_DEFINITIONS,
        new_definitions=NEW_DEFINITIONS,
        moves=MOVES,
        commits_between=_COMMITS_OF_UPDATE,
    ),
    output=DIFFS,
    assets=(DIFFS.name,),
)

DIFF_STEPS = (FILE_CHANGES_ROWS, DIFFS_ROWS)
