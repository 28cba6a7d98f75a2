-- step owners_gone, fingerprint afda7b7841f07b53, duckdb
-- answers a question
--
-- repo   <- definitions.repo
-- path   <- definitions.path
-- broken <- no column
-- rows   <- no column

SELECT
  r.repo,
  r.path,
  'the file is not in snapshots' AS broken,
  COUNT(*) AS "rows"
FROM "rows" AS r
ANTI JOIN snapshots AS f
  ON f.repo = r.repo AND f.path = r.path
GROUP BY
  r.repo,
  r.path
