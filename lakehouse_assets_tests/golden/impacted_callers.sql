-- step impacted_callers, fingerprint fa884e8fd8854eea, duckdb
-- helps to make impacted_callers
--
-- repo           <- no column
-- impacted_repo  <- definitions.repo, diffs.repo, links.repo
-- impacted_path  <- definitions.path, diffs.old_path, diffs.path, links.path
-- def_id         <- definitions.parent_id, diffs.def_id, diffs.old_def_id, links.src_def
-- symbol         <- definitions.symbol, diffs.old_symbol, diffs.symbol
-- distance       <- no column
-- reason         <- links.kind
-- via_symbol     <- definitions.symbol, diffs.old_symbol, diffs.symbol
-- changed_symbol <- diffs.old_symbol, diffs.symbol

SELECT
  $repo AS repo,
  f.repo AS impacted_repo,
  f.path AS impacted_path,
  f.def_id,
  s.symbol,
  f.distance,
  f.reason,
  f.via_symbol,
  f.changed_symbol
FROM callers AS f
JOIN symbols AS s
  ON s.repo = f.repo AND s.def_id = f.def_id
WHERE
  f.distance > 0
ORDER BY
  distance,
  impacted_repo,
  impacted_path,
  symbol
