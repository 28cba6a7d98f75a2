-- step month_versions, fingerprint be175559cfa93d7f, duckdb
-- helps to make commit_files, commit_activity
--
-- month   <- commits.committed_at
-- version <- commits.commit_sha, commits.first_parent_position, commits.repo, commits.tree_sha

SELECT
  month,
  COUNT(*) || '-' || BIT_XOR(
    MD5_NUMBER_LOWER(CONCAT_WS(' ', repo, commit_sha, COALESCE(tree_before, ''), on_line))
  ) AS version
FROM dated_commits
GROUP BY
  month
