-- step commit_activity, fingerprint ce3753b883fa4cf0, duckdb
-- helps to make commit_activity
--
-- month           <- commits.committed_at
-- repo            <- commits.repo
-- commits         <- no column
-- line_commits    <- commits.first_parent_position
-- merges          <- commits.parents
-- authors         <- commits.author_email
-- first_commit_at <- commits.committed_at
-- last_commit_at  <- commits.committed_at

SELECT
  month,
  repo,
  COUNT(*) AS commits,
  COUNT(*) FILTER(WHERE
    on_line) AS line_commits,
  COUNT(*) FILTER(WHERE
    is_merge) AS merges,
  COUNT(DISTINCT author_email) AS authors,
  MIN(committed_at) AS first_commit_at,
  MAX(committed_at) AS last_commit_at
FROM dated_commits
GROUP BY
  month,
  repo
ORDER BY
  month,
  repo
