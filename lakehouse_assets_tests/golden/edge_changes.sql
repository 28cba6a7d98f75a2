-- step edge_changes, fingerprint 3fc924ce8d59cc5a, duckdb
-- answers a question
--
-- change      <- no column
-- kind        <- links.kind
-- path        <- links.path
-- source      <- definitions.qualified_name
-- target_repo <- links.dst_repo
-- target      <- definitions.qualified_name, links.external

SELECT
  change,
  kind,
  path,
  source,
  target_repo,
  target
FROM (
  SELECT
    'removed' AS change,
    *
  FROM (
    SELECT
      *
    FROM before
    EXCEPT
    SELECT
      *
    FROM after
  ) AS gone
  UNION ALL
  SELECT
    'added' AS change,
    *
  FROM (
    SELECT
      *
    FROM after
    EXCEPT
    SELECT
      *
    FROM before
  ) AS came
) AS changes
ORDER BY
  path,
  source,
  kind,
  target_repo,
  target,
  change
