-- step diffs, fingerprint ef45ef874ef12727, duckdb
-- helps to make diffs
--
-- repo          <- file_changes.repo
-- path          <- file_changes.path
-- symbol        <- extracts.payload, file_changes.old_path, file_changes.path
-- def_id        <- extracts.payload, file_changes.old_path, file_changes.path
-- change        <- extracts.payload, file_changes.old_path, file_changes.path
-- kind          <- extracts.payload
-- name          <- extracts.payload
-- body_differs  <- extracts.payload
-- line          <- extracts.payload
-- signature     <- extracts.payload
-- old_path      <- file_changes.old_path
-- old_symbol    <- extracts.payload, file_changes.old_path
-- old_def_id    <- extracts.payload, file_changes.old_path
-- old_line      <- extracts.payload
-- old_signature <- extracts.payload
-- from_commit   <- file_changes.from_commit
-- to_commit     <- file_changes.to_commit

SELECT
  COALESCE(n.repo, o.repo) AS repo,
  COALESCE(n.path, o.path) AS path,
  COALESCE(n.symbol, o.symbol) AS symbol,
  COALESCE(n.def_id, o.def_id) AS def_id,
  CASE
    WHEN o.symbol IS NULL
    THEN 'added'
    WHEN n.symbol IS NULL
    THEN 'removed'
    WHEN o.kind <> n.kind OR o.signature_hash <> n.signature_hash
    THEN 'signature_changed'
    WHEN o.body_hash <> n.body_hash
    THEN 'body_changed'
    ELSE 'moved'
  END AS change,
  COALESCE(n.kind, o.kind) AS kind,
  COALESCE(n.name, o.name) AS name,
  COALESCE(o.body_hash <> n.body_hash, FALSE) AS body_differs,
  n.line,
  n.signature,
  o.old_path,
  o.symbol AS old_symbol,
  o.def_id AS old_def_id,
  o.line AS old_line,
  o.signature AS old_signature,
  c.from_commit,
  c.to_commit
FROM (
  SELECT
    d.*,
    NOT m.symbol IS NULL AS has_moved,
    COALESCE(m.symbol, d.present_symbol) AS now
  FROM old_definitions AS d
  LEFT JOIN moves AS m
    ON m.repo = d.repo AND m.old_symbol = d.symbol
) AS o
FULL JOIN new_definitions AS n
  ON n.repo = o.repo AND n.symbol = o.now
JOIN commits_between AS c
  ON c.of_repo = COALESCE(n.repo, o.repo)
WHERE
  o.symbol IS NULL
  OR n.symbol IS NULL
  OR o.symbol <> n.symbol
  OR o.has_moved
  OR o.kind <> n.kind
  OR o.signature_hash <> n.signature_hash
  OR o.body_hash <> n.body_hash
ORDER BY
  repo,
  path,
  COALESCE(n.line, o.line),
  symbol
