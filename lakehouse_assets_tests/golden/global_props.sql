-- step global_props, fingerprint 3360d201e30b45f1, duckdb
-- helps to make global_props
--
-- repo   <- links.repo
-- path   <- links.dst_path, links.path
-- def_id <- links.caller_def, links.dst_def
-- name   <- no column
-- value  <- links.caller_def, links.dst_def, links.dst_path, links.dst_repo, links.path, links.src_def

WITH inside AS (
  SELECT
    repo,
    path,
    src_def,
    caller_def,
    kind,
    dst_path,
    dst_def
  FROM incoming
  WHERE
    external IS NULL AND dst_repo = repo AND dst_n = 0
)
SELECT
  repo,
  path,
  def_id,
  name,
  CAST(value AS TEXT) AS value
FROM (
  SELECT
    repo,
    dst_path AS path,
    dst_def AS def_id,
    'callers' AS name,
    COUNT(DISTINCT (path, caller_def)) AS value
  FROM inside
  WHERE
    kind = 'CALL'
  GROUP BY
    repo,
    dst_path,
    dst_def
  UNION ALL
  SELECT
    repo,
    dst_path,
    dst_def,
    'importers',
    COUNT(DISTINCT path)
  FROM inside
  WHERE
    kind = 'IMPORT'
  GROUP BY
    repo,
    dst_path,
    dst_def
  UNION ALL
  SELECT
    repo,
    dst_path,
    dst_def,
    'subclasses',
    COUNT(DISTINCT (path, src_def))
  FROM inside
  WHERE
    kind = 'INHERITS'
  GROUP BY
    repo,
    dst_path,
    dst_def
  UNION ALL
  SELECT
    repo,
    dst_path,
    dst_def,
    'overriders',
    COUNT(DISTINCT (path, src_def))
  FROM inside
  WHERE
    kind = 'OVERRIDES'
  GROUP BY
    repo,
    dst_path,
    dst_def
  UNION ALL
  SELECT
    repo,
    dst_path,
    dst_def,
    'references',
    COUNT(*)
  FROM inside
  WHERE
    kind = 'REF'
  GROUP BY
    repo,
    dst_path,
    dst_def
  UNION ALL
  SELECT
    repo,
    path,
    caller_def,
    'callees',
    COUNT(DISTINCT (dst_repo, dst_path, dst_def))
  FROM outgoing
  WHERE
    kind = 'CALL'
  GROUP BY
    repo,
    path,
    caller_def
) AS found
ORDER BY
  repo,
  path,
  def_id,
  name
