-- step callers_0, fingerprint f2da1a7a47d926b8, duckdb
-- helps to make impacted_callers, impacted_files
--
-- repo           <- diffs.repo
-- path           <- diffs.old_path, diffs.path
-- def_id         <- diffs.def_id, diffs.old_def_id
-- distance       <- no column
-- reason         <- no column
-- via_symbol     <- diffs.old_symbol, diffs.symbol
-- changed_symbol <- diffs.old_symbol, diffs.symbol

SELECT
  repo,
  path,
  def_id,
  0 AS distance,
  'changed' AS reason,
  symbol AS via_symbol,
  symbol AS changed_symbol
FROM changed
WHERE
  kind <> 'module'
