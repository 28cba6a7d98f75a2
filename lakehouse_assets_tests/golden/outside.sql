-- step outside, fingerprint 040c4509cc821973, duckdb
-- helps to make nodes
--
-- repo     <- links.repo
-- path     <- links.path
-- dst_def  <- links.dst_def
-- external <- links.external

SELECT DISTINCT
  repo,
  path,
  dst_def,
  external
FROM links
WHERE
  NOT external IS NULL
