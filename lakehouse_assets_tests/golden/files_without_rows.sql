-- step files_without_rows, fingerprint 57227eb9e80663a0, duckdb
-- answers a question
--
-- repo   <- snapshots.repo
-- path   <- snapshots.path
-- broken <- no column
-- rows   <- no column

SELECT
  f.repo,
  f.path,
  'the file is in snapshots and has no row here' AS broken,
  1 AS "rows"
FROM snapshots AS f
ANTI JOIN "rows" AS r
  ON r.repo = f.repo AND r.path = f.path
WHERE
  f.kind IN ('file', 'executable')
