/* model
description: >
  One row per function, method or class outside the tests that nothing in any repository was found to use. Candidates:
  what is called by name only at run time, or by frameworks, is not seen.
owner: team:lakehouse
tags: [graph, quality]
materialization: full
key: [repo, path, def_id]
cluster_by: [repo, path]
columns:
  repo: Name of the repository.
  path: File of the definition.
  def_id: The definition.
  qualified_name: Its dotted name.
  kind: What it is.
  line: First line.
  lines: How many lines would go.
  exported: Whether a star import of its module takes it along, so that users elsewhere are likely.
audits:
  - unique: [repo, path, def_id]
  - at_least: {lines: 1}
*/
WITH used AS (
  SELECT DISTINCT dst_repo AS repo, dst_path AS path, dst_def AS def_id
  FROM links
  WHERE external IS NULL AND NOT (repo = dst_repo AND path = dst_path AND src_def = dst_def)
),
overriding AS (
  SELECT DISTINCT repo, path, src_def AS def_id FROM links WHERE kind = 'OVERRIDES'
),
public AS (
  SELECT DISTINCT repo, path, target_def AS def_id
  FROM exported_defs WHERE is_public AND via = 'own' AND NOT target_def IS NULL
)
SELECT
  d.repo, d.path, d.def_id, d.qualified_name, d.kind, d.line,
  d.end_line - d.line + 1 AS lines,
  NOT p.def_id IS NULL AS exported
FROM definitions AS d
JOIN snapshots AS s ON s.repo = d.repo AND s.path = d.path
LEFT JOIN used AS u ON u.repo = d.repo AND u.path = d.path AND u.def_id = d.def_id
LEFT JOIN overriding AS o ON o.repo = d.repo AND o.path = d.path AND o.def_id = d.def_id
LEFT JOIN public AS p ON p.repo = d.repo AND p.path = d.path AND p.def_id = d.def_id
WHERE d.kind IN ('function', 'method', 'class')
  AND NOT s.is_test AND NOT s.is_vendored AND NOT s.is_generated
  AND u.def_id IS NULL AND o.def_id IS NULL
  AND NOT STARTSWITH(d.name, '__')
