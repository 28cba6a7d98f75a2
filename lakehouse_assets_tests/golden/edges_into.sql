-- step edges_into, fingerprint 3938510f1a4383db, duckdb
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
  ON e.dst_repo = t.repo AND e.dst_path = t.path AND e.dst_def = t.def_id
WHERE
  ARRAY_CONTAINS($kinds, e.kind) AND e.dst_n = 0
