-- step contents_missing, fingerprint 390c10d214327d20, duckdb
-- answers a question
--
-- repo   <- snapshots.repo
-- path   <- snapshots.path
-- broken <- snapshots.blob_sha
-- rows   <- no column

SELECT
  f.repo,
  f.path,
  'its content ' || f.blob_sha || ' is not in blobs' AS broken,
  1 AS "rows"
FROM snapshots AS f
ANTI JOIN blobs AS b
  ON b.blob_sha = f.blob_sha
WHERE
  f.kind IN ('file', 'executable')
