-- step ends_missing, fingerprint 04e158f3e956d125, duckdb
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
ANTI JOIN nodes AS n
  ON HASH(n.repo, n.path, n.def_id, n.n) = HASH(e.dst_repo, e.dst_path, e.dst_def, e.dst_n)
GROUP BY
  e.repo,
  e.path,
  e.kind
