-- step outgoing, fingerprint b65e1899856a1f29, duckdb
-- answers a question
--
-- repo       <- edges.repo
-- path       <- edges.path
-- line       <- definitions.line, definitions.parent_id, nodes.line
-- col        <- nodes.col
-- target     <- definitions.qualified_name, nodes.name
-- kind       <- edges.kind
-- method     <- edges.method
-- confidence <- edges.confidence

SELECT
  p.repo,
  p.path,
  p.line,
  p.col,
  COALESCE(t.qualified_name, x.name) AS target,
  p.kind,
  p.method,
  p.confidence
FROM placed_edges AS p
LEFT JOIN definitions AS t
  ON t.repo = p.dst_repo AND t.path = p.dst_path AND t.def_id = p.dst_def
LEFT JOIN nodes AS x
  ON x.kind = 'EXTERNAL'
  AND x.repo = p.dst_repo
  AND x.path = p.dst_path
  AND x.def_id = p.dst_def
ORDER BY
  ALL
