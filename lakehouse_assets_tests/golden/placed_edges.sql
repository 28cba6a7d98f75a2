-- step placed_edges, fingerprint 7c08ec2dc73bdc20, duckdb
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
-- col        <- nodes.col
-- line       <- definitions.line, definitions.parent_id, nodes.line
-- source     <- definitions.qualified_name

SELECT
  e.*,
  n.col AS col,
  n.line + COALESCE(a.line, 0) + CASE WHEN d.parent_id IS NULL THEN 0 ELSE d.line END AS line,
  s.qualified_name AS source
FROM wanted AS e
JOIN nodes AS n
  ON n.repo = e.repo AND n.path = e.path AND n.def_id = e.src_def AND n.n = e.src_n
LEFT JOIN nodes AS a
  ON n.anchor > 0
  AND a.repo = e.repo
  AND a.path = e.path
  AND a.def_id = e.src_def
  AND a.n = n.anchor
JOIN definitions AS d
  ON d.repo = e.repo AND d.path = e.path AND d.def_id = e.src_def
JOIN definitions AS s
  ON s.repo = e.repo
  AND s.path = e.path
  AND s.def_id = COALESCE(e.caller_def, e.src_def)
