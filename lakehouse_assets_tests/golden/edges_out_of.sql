-- step edges_out_of, fingerprint 2d87eed46f1e0fee, duckdb
-- answers a question
--
-- repo       <- edges.repo
-- path       <- edges.path
-- kind       <- edges.kind
-- src_def    <- edges.src_def
-- src_n      <- edges.src_n
-- dst_repo   <- edges.dst_repo
-- dst_path   <- edges.dst_path
-- dst_def    <- edges.dst_def
-- dst_n      <- edges.dst_n
-- label      <- edges.label
-- method     <- edges.method
-- confidence <- edges.confidence
-- caller_def <- edges.caller_def

SELECT
  e.*
FROM edges AS e
JOIN asked AS t
  ON e.repo = t.repo
  AND e.path = t.path
  AND COALESCE(e.caller_def, e.src_def) = t.def_id
WHERE
  ARRAY_CONTAINS($kinds, e.kind)
