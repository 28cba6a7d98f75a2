-- step ends_missing, fingerprint 3bc73ba573e3d263, duckdb
-- answers a question
--
-- repo   <- edges.repo
-- path   <- edges.path
-- broken <- edges.kind
-- rows   <- no column

SELECT
  e.repo,
  e.path,
  e.kind || ' leads to a node that is not there' AS broken,
  COUNT(*) AS "rows"
FROM edges AS e
ANTI JOIN ends AS n
  ON n.repo = e.dst_repo
  AND n.path = e.dst_path
  AND n.def_id = e.dst_def
  AND n.n = e.dst_n
GROUP BY
  e.repo,
  e.path,
  e.kind
UNION ALL
SELECT
  e.repo,
  e.path,
  e.kind || ' starts from a node that is not there',
  COUNT(*)
FROM edges AS e
ANTI JOIN starts AS n
  ON n.repo = e.repo AND n.path = e.path AND n.def_id = e.src_def AND n.n = e.src_n
GROUP BY
  e.repo,
  e.path,
  e.kind
