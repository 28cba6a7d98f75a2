-- step definitions_named, fingerprint 0e9fba26e6b2173a, duckdb
-- answers a question
--
-- repo           <- definitions.repo
-- path           <- definitions.path
-- line           <- definitions.line
-- kind           <- definitions.kind
-- qualified_name <- definitions.qualified_name
-- signature      <- definitions.signature
-- symbol         <- definitions.symbol
-- def_id         <- definitions.def_id

SELECT
  repo,
  path,
  line,
  kind,
  qualified_name,
  signature,
  symbol,
  def_id
FROM definitions
WHERE
  (
    qualified_name = $text
    OR ENDS_WITH(qualified_name, '.' || $text)
    OR symbol = $text
  )
  AND (
    $repo IS NULL OR repo = $repo
  )
ORDER BY
  repo,
  path,
  line
