-- step named_links, fingerprint 735cd8ec1402a871, duckdb
-- answers a question
--
-- kind        <- links.kind
-- path        <- links.path
-- source      <- definitions.qualified_name
-- target_repo <- links.dst_repo
-- target      <- definitions.qualified_name, links.external

SELECT DISTINCT
  l.kind,
  l.path,
  s.qualified_name AS source,
  l.dst_repo AS target_repo,
  COALESCE(l.external, t.qualified_name, o.qualified_name) AS target
FROM links AS l
JOIN definitions AS s
  ON s.repo = l.repo
  AND s.path = l.path
  AND s.def_id = COALESCE(l.caller_def, l.src_def)
LEFT JOIN definitions AS t
  ON t.repo = l.dst_repo AND t.path = l.dst_path AND t.def_id = l.dst_def
LEFT JOIN present AS o
  ON l.dst_repo <> l.repo
  AND o.repo = l.dst_repo
  AND o.path = l.dst_path
  AND o.def_id = l.dst_def
