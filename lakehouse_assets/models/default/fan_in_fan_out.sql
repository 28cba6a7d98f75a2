/* model
description: One row per definition that calls or is called in its own repository, with how many others it does so with.
owner: team:lakehouse
tags: [graph]
materialization: by_partition
key: [repo, path, def_id]
partition_by: [repo]
cluster_by: [path]
columns:
  repo: Name of the repository.
  path: File of the definition.
  def_id: The definition.
  qualified_name: Its dotted name.
  kind: What it is.
  fan_in: Definitions that call it, itself apart.
  fan_out: Definitions that it calls, itself apart.
audits:
  - at_least: {fan_in: 0}
  - at_least: {fan_out: 0}
*/
WITH calls AS (
  SELECT DISTINCT repo, path, src_def, dst_path, dst_def
  FROM links
  WHERE kind = 'CALL' AND dst_repo = repo AND external IS NULL AND dst_def <> src_def
),
ends AS (
  SELECT repo, dst_path AS path, dst_def AS def_id, COUNT(*) AS callers, 0 AS callees
  FROM calls GROUP BY repo, dst_path, dst_def
  UNION ALL
  SELECT repo, path, src_def AS def_id, 0 AS callers, COUNT(*) AS callees
  FROM calls GROUP BY repo, path, src_def
)
SELECT d.repo, d.path, d.def_id, d.qualified_name, d.kind, SUM(e.callers) AS fan_in, SUM(e.callees) AS fan_out
FROM definitions AS d
JOIN ends AS e ON e.repo = d.repo AND e.path = d.path AND e.def_id = d.def_id
GROUP BY d.repo, d.path, d.def_id, d.qualified_name, d.kind
