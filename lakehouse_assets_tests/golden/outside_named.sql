-- step outside_named, fingerprint 4a10a159c152b615, duckdb
-- answers a question
--
-- repo   <- nodes.repo
-- path   <- nodes.path
-- def_id <- nodes.def_id

SELECT
  repo,
  path,
  def_id
FROM nodes
WHERE
  kind = 'EXTERNAL' AND name IN ($text, '<builtin>.' || $text)
