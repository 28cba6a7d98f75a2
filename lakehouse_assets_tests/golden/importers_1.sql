-- step importers_1, fingerprint 40f2443513f60389, duckdb
-- helps to make impacted_importers, impacted_files
--
-- repo           <- imports_resolved.repo
-- path           <- imports_resolved.path
-- distance       <- no column
-- reason         <- diffs.def_id, diffs.kind, diffs.old_def_id, imports_resolved.name, imports_resolved.target_def
-- via_symbol     <- diffs.def_id, diffs.old_def_id, diffs.old_symbol, diffs.symbol, imports_resolved.module, imports_resolved.target_def
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
    *,
    ROW_NUMBER() OVER (PARTITION BY repo, path ORDER BY reason, via_symbol, changed_symbol) AS place
  FROM (
    SELECT
      i.repo,
      i.path,
      1 AS distance,
      CASE
        WHEN i.target_def = c.def_id AND c.kind <> 'module'
        THEN 'imports_definition'
        WHEN i.name IN ('', '*')
        THEN 'imports_module'
        ELSE 'imports_file'
      END AS reason,
      CASE WHEN i.target_def = c.def_id THEN c.symbol ELSE i.module END AS via_symbol,
      c.symbol AS changed_symbol
    FROM imports_resolved AS i
    JOIN changed AS c
      ON c.repo = i.target_repo AND c.path = i.target_path
    WHERE
      (
        i.target_def = c.def_id OR i.name IN ('', '*') OR c.kind = 'module'
      )
      AND NOT EXISTS(
        SELECT
          1
        FROM reached AS r
        WHERE
          r.repo = i.repo AND r.path = i.path
      )
  ) AS found
) AS ways
WHERE
  place = 1
