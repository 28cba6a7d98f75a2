-- step starts_missing, fingerprint 441be08acac7d1dd, duckdb
-- answers a question
--
-- repo   <- edges.repo
-- path   <- edges.path
-- broken <- edges.kind
-- rows   <- no column

SELECT
  e.repo,
  e.path,
  e.kind || ' starts from a node that is not there' AS broken,
  COUNT(*) AS "rows"
FROM edges AS e
ANTI JOIN nodes AS n
  ON HASH(n.repo, n.path, n.def_id, n.n) = HASH(e.repo, e.path, e.src_def, e.src_n)
GROUP BY
  e.repo,
  e.path,
  e.kind
