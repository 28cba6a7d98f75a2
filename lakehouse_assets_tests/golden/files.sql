-- step files, fingerprint bc54bc3daf3c4cc4, duckdb
-- helps to make impacted_files
--
-- repo           <- definitions.repo, diffs.repo, file_changes.repo, imports_resolved.repo, links.repo
-- path           <- definitions.path, diffs.old_path, diffs.path, file_changes.path, imports_resolved.path, links.path
-- distance       <- no column
-- reason         <- diffs.def_id, diffs.kind, diffs.old_def_id, imports_resolved.name, imports_resolved.target_def, links.kind
-- via_symbol     <- definitions.symbol, diffs.def_id, diffs.old_def_id, diffs.old_symbol, diffs.symbol, file_changes.path, imports_resolved.module, imports_resolved.path, imports_resolved.target_def
-- changed_symbol <- diffs.old_symbol, diffs.symbol, file_changes.path

SELECT
  repo,
  path,
  distance,
  reason,
  via_symbol,
  changed_symbol
FROM (
  SELECT
    *,
    ROW_NUMBER() OVER (PARTITION BY repo, path ORDER BY distance, reason, via_symbol, changed_symbol) AS place
  FROM (
    SELECT
      repo,
      path,
      0 AS distance,
      'changed' AS reason,
      path AS via_symbol,
      path AS changed_symbol
    FROM file_changes
    UNION ALL
    SELECT
      repo,
      path,
      distance,
      reason,
      via_symbol,
      changed_symbol
    FROM callers
    WHERE
      distance > 0
    UNION ALL
    SELECT
      repo,
      path,
      distance,
      reason,
      via_symbol,
      changed_symbol
    FROM importers
    WHERE
      distance > 0
  ) AS found
) AS ways
WHERE
  place = 1
