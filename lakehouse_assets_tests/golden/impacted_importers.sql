-- step impacted_importers, fingerprint c9b77a2eaf178855, duckdb
-- helps to make impacted_importers
--
-- repo           <- no column
-- impacted_repo  <- diffs.repo, imports_resolved.repo
-- impacted_path  <- diffs.old_path, diffs.path, imports_resolved.path
-- distance       <- no column
-- reason         <- diffs.def_id, diffs.kind, diffs.old_def_id, imports_resolved.name, imports_resolved.target_def
-- via_symbol     <- diffs.def_id, diffs.old_def_id, diffs.old_symbol, diffs.symbol, imports_resolved.module, imports_resolved.path, imports_resolved.target_def
-- changed_symbol <- diffs.old_symbol, diffs.symbol

SELECT
  $repo AS repo,
  repo AS impacted_repo,
  path AS impacted_path,
  distance,
  reason,
  via_symbol,
  changed_symbol
FROM importers
WHERE
  distance > 0
ORDER BY
  distance,
  impacted_repo,
  impacted_path
