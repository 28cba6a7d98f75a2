-- step changed, fingerprint c4da46daf5dac950, duckdb
-- helps to make impacted_callers, impacted_importers, impacted_files
--
-- repo   <- diffs.repo
-- path   <- diffs.old_path, diffs.path
-- def_id <- diffs.def_id, diffs.old_def_id
-- kind   <- diffs.kind
-- symbol <- diffs.old_symbol, diffs.symbol

SELECT
  repo,
  path,
  def_id,
  kind,
  MIN(symbol) AS symbol
FROM (
  SELECT
    repo,
    path,
    def_id,
    kind,
    symbol
  FROM diffs
  UNION ALL
  SELECT
    repo,
    old_path AS path,
    old_def_id AS def_id,
    kind,
    old_symbol AS symbol
  FROM diffs
  WHERE
    NOT old_def_id IS NULL
) AS every_id
GROUP BY
  repo,
  path,
  def_id,
  kind
