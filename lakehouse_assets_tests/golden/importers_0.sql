-- step importers_0, fingerprint 75687188b7277987, duckdb
-- helps to make impacted_importers, impacted_files
--
-- repo           <- diffs.repo
-- path           <- diffs.old_path, diffs.path
-- distance       <- no column
-- reason         <- no column
-- via_symbol     <- diffs.old_symbol, diffs.symbol
-- changed_symbol <- diffs.old_symbol, diffs.symbol

SELECT
  repo,
  path,
  0 AS distance,
  'changed' AS reason,
  MIN(symbol) AS via_symbol,
  MIN(symbol) AS changed_symbol
FROM changed
GROUP BY
  repo,
  path
