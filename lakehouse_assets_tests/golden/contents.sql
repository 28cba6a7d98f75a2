-- step contents, fingerprint 97be782a2c76ead1, duckdb
-- helps to make blobs
--
-- blob_sha <- snapshots.blob_sha
-- repo     <- snapshots.repo
-- size     <- snapshots.size

SELECT
  blob_sha,
  MIN(repo) AS repo,
  ANY_VALUE(size) AS size
FROM snapshots
WHERE
  kind IN ('file', 'executable')
GROUP BY
  blob_sha
ORDER BY
  blob_sha
