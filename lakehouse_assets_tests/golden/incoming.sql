-- step incoming, fingerprint f6886f21be9de902, duckdb
-- answers a question
--
-- repo       <- edges.repo
-- path       <- edges.path
-- line       <- definitions.line, definitions.parent_id, nodes.line
-- col        <- nodes.col
-- source     <- definitions.qualified_name
-- kind       <- edges.kind
-- method     <- edges.method
-- confidence <- edges.confidence

SELECT
  repo,
  path,
  line,
  col,
  source,
  kind,
  method,
  confidence
FROM placed_edges
ORDER BY
  ALL
