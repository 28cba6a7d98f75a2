-- step dated_commits, fingerprint 7aac728e2b9f0423, duckdb
-- helps to make commit_files, commit_activity
--
-- month        <- commits.committed_at
-- repo         <- commits.repo
-- commit_sha   <- commits.commit_sha
-- tree_sha     <- commits.tree_sha
-- tree_before  <- commits.tree_sha
-- on_line      <- commits.first_parent_position
-- is_merge     <- commits.parents
-- author_email <- commits.author_email
-- committed_at <- commits.committed_at

SELECT
  CAST(DATE_TRUNC('MONTH', c.committed_at AT TIME ZONE 'UTC') AS DATE) AS month,
  c.repo,
  c.commit_sha,
  c.tree_sha,
  p.tree_sha AS tree_before,
  NOT c.first_parent_position IS NULL AS on_line,
  ARRAY_LENGTH(c.parents) > 1 AS is_merge,
  c.author_email,
  c.committed_at
FROM commits AS c
LEFT JOIN commits AS p
  ON p.repo = c.repo
  AND p.commit_sha = CASE WHEN ARRAY_LENGTH(c.parents) > 0 THEN c.parents[1] END
WHERE
  NOT c.committed_at IS NULL
