-- step symbols, fingerprint b4388b2323b870c6, duckdb
-- helps to make impacted_callers, impacted_files
--
-- repo   <- definitions.repo, diffs.repo
-- def_id <- definitions.def_id, diffs.def_id, diffs.old_def_id
-- symbol <- definitions.symbol, diffs.old_symbol, diffs.symbol
-- kind   <- definitions.kind, diffs.kind

SELECT
  repo,
  def_id,
  MIN(symbol) AS symbol,
  MIN(kind) AS kind
FROM (
  SELECT
    repo,
    def_id,
    symbol,
    kind
  FROM definitions
  UNION ALL
  SELECT
    repo,
    def_id,
    symbol,
    kind
  FROM changed
) AS every_symbol
GROUP BY
  repo,
  def_id
