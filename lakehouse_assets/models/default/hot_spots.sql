/* model
description: >
  One row per source file with definitions: how often the last 2,000 commits touched it, how many branches its code
  takes, and the product of both. `commit_files` has to be made (`lakehouse activity`), or nothing has churn.
owner: team:lakehouse
tags: [change, quality]
materialization: by_partition
key: [repo, path]
partition_by: [repo]
columns:
  repo: Name of the repository.
  path: The file.
  language: Its language.
  churn: Commits of the last 2,000 on the first-parent line that touched it.
  complexity: "Branches: loops, conditions, handlers and the like, and one for each function."
  score: Churn times complexity.
  last_changed: When the last of these commits was made.
audits:
  - at_least: {churn: 0}
  - at_least: {complexity: 0}
*/
WITH line AS (
  SELECT repo, MAX(first_parent_position) AS last_position FROM commits GROUP BY repo
),
touched AS (
  SELECT f.repo, f.path, COUNT(*) AS churn, MAX(f.committed_at) AS last_changed
  FROM commit_files AS f
  JOIN commits AS c ON c.repo = f.repo AND c.commit_sha = f.commit_sha
  JOIN line AS l ON l.repo = c.repo
  WHERE NOT f.is_deleted AND c.first_parent_position > l.last_position - 2000
  GROUP BY f.repo, f.path
),
branches AS (
  SELECT repo, path, COUNT(*) AS complexity
  FROM nodes
  WHERE kind IN (
    'If', 'For', 'AsyncFor', 'While', 'ExceptHandler', 'IfExp', 'BoolOp', 'comprehension', 'match_case', 'Assert',
    'FunctionDef', 'AsyncFunctionDef', 'Lambda',
    'if_statement', 'if_expression', 'for_statement', 'for_in_statement', 'enhanced_for_statement', 'for_expression',
    'while_statement', 'while_expression', 'do_statement', 'loop_expression', 'catch_clause', 'except_clause',
    'case_statement', 'switch_case', 'switch_block_statement_group', 'expression_case', 'match_arm', 'when_entry',
    'conditional_expression', 'ternary_expression', 'function', 'method', 'constructor'
  )
  GROUP BY repo, path
)
SELECT
  s.repo, s.path, s.language,
  COALESCE(t.churn, 0) AS churn,
  b.complexity,
  COALESCE(t.churn, 0) * b.complexity AS score,
  t.last_changed
FROM branches AS b
JOIN snapshots AS s ON s.repo = b.repo AND s.path = b.path
LEFT JOIN touched AS t ON t.repo = b.repo AND t.path = b.path
WHERE NOT s.is_vendored AND NOT s.is_generated
