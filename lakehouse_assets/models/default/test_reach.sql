/* model
description: >
  One row per definition that the last update changed or added, with the tests of its repository that reach it by at
  most four calls.
owner: team:lakehouse
tags: [change, tests]
materialization: by_partition
key: [repo, path, symbol]
partition_by: [repo]
columns:
  repo: Name of the repository.
  path: File of the definition.
  symbol: Its symbol.
  change: What became of it.
  commit_sha: Commit that the update brought the repository to.
  tests: Definitions in test files that reach it.
  distance: Calls from the nearest of them; NULL if none reaches it.
audits:
  - at_least: {tests: 0}
*/
WITH calls AS (
  SELECT DISTINCT repo, path, src_def, dst_def
  FROM links WHERE kind = 'CALL' AND dst_repo = repo AND external IS NULL
),
changed AS (
  SELECT d.repo, d.path, d.symbol, d.change, d.to_commit, d.def_id
  FROM diffs AS d
  JOIN snapshots AS s ON s.repo = d.repo AND s.path = d.path
  WHERE d.change IN ('added', 'signature_changed', 'body_changed')
    AND d.kind IN ('function', 'method', 'class') AND NOT s.is_test
),
one AS (
  SELECT DISTINCT g.repo, g.def_id, c.path, c.src_def FROM changed AS g
  JOIN calls AS c ON c.repo = g.repo AND c.dst_def = g.def_id
),
two AS (
  SELECT DISTINCT n.repo, n.def_id, c.path, c.src_def FROM one AS n
  JOIN calls AS c ON c.repo = n.repo AND c.dst_def = n.src_def
),
three AS (
  SELECT DISTINCT n.repo, n.def_id, c.path, c.src_def FROM two AS n
  JOIN calls AS c ON c.repo = n.repo AND c.dst_def = n.src_def
),
four AS (
  SELECT DISTINCT n.repo, n.def_id, c.path, c.src_def FROM three AS n
  JOIN calls AS c ON c.repo = n.repo AND c.dst_def = n.src_def
),
reached AS (
  SELECT repo, def_id, path, src_def, MIN(distance) AS distance
  FROM (
    SELECT repo, def_id, path, src_def, 1 AS distance FROM one
    UNION ALL SELECT repo, def_id, path, src_def, 2 AS distance FROM two
    UNION ALL SELECT repo, def_id, path, src_def, 3 AS distance FROM three
    UNION ALL SELECT repo, def_id, path, src_def, 4 AS distance FROM four
  ) AS ways
  GROUP BY repo, def_id, path, src_def
),
by_tests AS (
  SELECT r.repo, r.def_id, COUNT(*) AS tests, MIN(r.distance) AS distance
  FROM reached AS r
  JOIN snapshots AS s ON s.repo = r.repo AND s.path = r.path
  WHERE s.is_test
  GROUP BY r.repo, r.def_id
)
SELECT g.repo, g.path, g.symbol, g.change, g.to_commit AS commit_sha, COALESCE(t.tests, 0) AS tests, t.distance
FROM changed AS g
LEFT JOIN by_tests AS t ON t.repo = g.repo AND t.def_id = g.def_id
