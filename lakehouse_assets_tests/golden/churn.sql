-- step churn, fingerprint a7d2777ec439d555, duckdb
-- helps to make churn
--
-- month            <- commit_files.month
-- repo             <- commit_files.repo
-- path             <- commit_files.path
-- commits          <- no column
-- deletions        <- commit_files.is_deleted
-- first_changed_at <- commit_files.committed_at
-- last_changed_at  <- commit_files.committed_at

SELECT
  month,
  repo,
  path,
  COUNT(*) AS commits,
  COUNT(*) FILTER(WHERE
    is_deleted) AS deletions,
  MIN(committed_at) AS first_changed_at,
  MAX(committed_at) AS last_changed_at
FROM commit_files
GROUP BY
  month,
  repo,
  path
ORDER BY
  month,
  repo,
  path
