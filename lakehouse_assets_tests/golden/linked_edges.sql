-- step linked_edges, fingerprint 653af1465aba3704, duckdb
-- helps to make edges
--
-- repo       <- links.repo
-- path       <- links.path
-- kind       <- links.kind
-- src_def    <- links.src_def
-- src_n      <- links.src_n
-- dst_repo   <- links.dst_repo
-- dst_path   <- links.dst_path
-- dst_def    <- links.dst_def
-- dst_n      <- links.dst_n
-- label      <- links.label
-- method     <- links.method
-- confidence <- links.confidence

SELECT
  repo,
  path,
  kind,
  src_def,
  src_n,
  dst_repo,
  dst_path,
  dst_def,
  dst_n,
  label,
  method,
  confidence
FROM links
