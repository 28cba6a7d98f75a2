-- step dependencies, fingerprint 9b8aa004337fdebd, duckdb
-- helps to make impacted_callers, impacted_files
--
-- repo    <- definitions.repo, links.repo
-- path    <- definitions.path, links.path
-- def_id  <- definitions.parent_id, links.src_def
-- on_repo <- definitions.repo, links.dst_repo
-- on_def  <- definitions.def_id, links.dst_def
-- reason  <- links.kind

SELECT DISTINCT
  repo,
  path,
  src_def AS def_id,
  dst_repo AS on_repo,
  dst_def AS on_def,
  CASE kind
    WHEN 'CALL'
    THEN 'calls'
    WHEN 'INHERITS'
    THEN 'inherits'
    WHEN 'OVERRIDES'
    THEN 'overrides'
    ELSE 'refers'
  END AS reason
FROM links
WHERE
  kind IN ('CALL', 'INHERITS', 'OVERRIDES', 'REF') AND dst_n = 0
UNION
SELECT
  inner_one.repo,
  inner_one.path,
  inner_one.parent_id AS def_id,
  inner_one.repo AS on_repo,
  inner_one.def_id AS on_def,
  'holds' AS reason
FROM definitions AS inner_one
JOIN symbols AS outer_one
  ON outer_one.repo = inner_one.repo AND outer_one.def_id = inner_one.parent_id
WHERE
  inner_one.kind = 'lambda' OR outer_one.kind IN ('function', 'lambda')
