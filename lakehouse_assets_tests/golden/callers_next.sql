-- step callers_next, fingerprint 0dd9919a8f4aa81e, duckdb
-- helps to make impacted_callers, impacted_files
--
-- repo           <- definitions.repo, links.repo
-- path           <- definitions.path, links.path
-- def_id         <- definitions.parent_id, links.src_def
-- distance       <- no column
-- reason         <- links.kind
-- via_symbol     <- definitions.symbol, diffs.old_symbol, diffs.symbol
-- changed_symbol <- diffs.old_symbol, diffs.symbol

SELECT
  repo,
  path,
  def_id,
  distance,
  reason,
  via_symbol,
  changed_symbol
FROM (
  SELECT
    d.repo,
    d.path,
    d.def_id,
    f.distance + 1 AS distance,
    d.reason,
    s.symbol AS via_symbol,
    f.changed_symbol,
    ROW_NUMBER() OVER (
      PARTITION BY d.repo, d.def_id
      ORDER BY d.reason, s.symbol, f.changed_symbol, d.path
    ) AS place
  FROM frontier AS f
  JOIN symbols AS s
    ON s.repo = f.repo AND s.def_id = f.def_id AND s.kind <> 'module'
  JOIN dependencies AS d
    ON d.on_repo = f.repo AND d.on_def = f.def_id
  WHERE
    NOT EXISTS(
      SELECT
        1
      FROM reached AS r
      WHERE
        r.repo = d.repo AND r.def_id = d.def_id
    )
) AS ways
WHERE
  place = 1
