/* model
description: >
  One row per cycle of up to four files of a repository that import each other, each cycle once, from its first file on.
owner: team:lakehouse
tags: [graph, quality]
materialization: by_partition
key: [repo, first_file, second_file, third_file, fourth_file]
partition_by: [repo]
columns:
  repo: Name of the repository.
  first_file: The file of the cycle that comes first by name.
  second_file: What that one imports.
  third_file: What the second imports; - where the cycle is closed already.
  fourth_file: What the third imports; - where the cycle is closed already.
  length: Files in the cycle.
audits:
  - at_least: {length: 2}
  - at_most: {length: 4}
*/
WITH steps AS (
  SELECT DISTINCT repo, path AS a, target_path AS b
  FROM imports_resolved
  WHERE kind = 'first_party' AND target_repo = repo AND NOT target_path IS NULL AND target_path <> path
)
SELECT s.repo, s.a AS first_file, s.b AS second_file, '-' AS third_file, '-' AS fourth_file, 2 AS length
FROM steps AS s
JOIN steps AS t ON t.repo = s.repo AND t.a = s.b AND t.b = s.a
WHERE s.a < s.b
UNION ALL
SELECT s.repo, s.a AS first_file, s.b AS second_file, t.b AS third_file, '-' AS fourth_file, 3 AS length
FROM steps AS s
JOIN steps AS t ON t.repo = s.repo AND t.a = s.b
JOIN steps AS u ON u.repo = t.repo AND u.a = t.b AND u.b = s.a
WHERE s.a < s.b AND s.a < t.b
UNION ALL
SELECT s.repo, s.a AS first_file, s.b AS second_file, t.b AS third_file, u.b AS fourth_file, 4 AS length
FROM steps AS s
JOIN steps AS t ON t.repo = s.repo AND t.a = s.b
JOIN steps AS u ON u.repo = t.repo AND u.a = t.b
JOIN steps AS v ON v.repo = u.repo AND v.a = u.b AND v.b = s.a
WHERE s.a < s.b AND s.a < t.b AND s.a < u.b AND s.b <> u.b
