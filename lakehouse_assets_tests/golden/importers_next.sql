-- step importers_next, fingerprint b64eec2b8324ae9c, duckdb
-- helps to make impacted_importers, impacted_files
--
-- repo           <- imports_resolved.repo
-- path           <- imports_resolved.path
-- distance       <- no column
-- reason         <- no column
-- via_symbol     <- imports_resolved.path
-- changed_symbol <- diffs.old_symbol, diffs.symbol

SELECT
  repo,
  path,
  distance,
  reason,
  via_symbol,
  changed_symbol
FROM (
  SELECT
    i.repo,
    i.path,
    f.distance + 1 AS distance,
    'imports_importer' AS reason,
    f.path AS via_symbol,
    f.changed_symbol,
    ROW_NUMBER() OVER (PARTITION BY i.repo, i.path ORDER BY f.path, f.changed_symbol) AS place
  FROM frontier AS f
  JOIN imports_resolved AS i
    ON i.target_repo = f.repo AND i.target_path = f.path
  WHERE
    NOT EXISTS(
      SELECT
        1
      FROM reached AS r
      WHERE
        r.repo = i.repo AND r.path = i.path
    )
) AS ways
WHERE
  place = 1
