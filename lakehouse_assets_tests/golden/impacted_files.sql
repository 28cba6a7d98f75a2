-- step impacted_files, fingerprint 77d74c08baef4f1b, duckdb
-- helps to make impacted_files
--
-- repo           <- no column
-- impacted_repo  <- definitions.repo, diffs.repo, file_changes.repo, imports_resolved.repo, links.repo
-- impacted_path  <- definitions.path, diffs.old_path, diffs.path, file_changes.path, imports_resolved.path, links.path
-- distance       <- no column
-- reason         <- diffs.def_id, diffs.kind, diffs.old_def_id, imports_resolved.name, imports_resolved.target_def, links.kind
-- via_symbol     <- definitions.symbol, diffs.def_id, diffs.old_def_id, diffs.old_symbol, diffs.symbol, file_changes.path, imports_resolved.module, imports_resolved.path, imports_resolved.target_def
-- changed_symbol <- diffs.old_symbol, diffs.symbol, file_changes.path

SELECT
  $repo AS repo,
  repo AS impacted_repo,
  path AS impacted_path,
  distance,
  reason,
  via_symbol,
  changed_symbol
FROM files
ORDER BY
  distance,
  impacted_repo,
  impacted_path
