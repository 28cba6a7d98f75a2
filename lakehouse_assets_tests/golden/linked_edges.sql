-- step linked_edges, fingerprint b0af00b1c05e9d59, duckdb
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
-- caller_def <- links.caller_def

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
  confidence,
  caller_def
FROM links
