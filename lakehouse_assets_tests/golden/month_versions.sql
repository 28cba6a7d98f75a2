-- step month_versions, fingerprint 524ab02255d20bf8, duckdb
-- helps to make commit_files, commit_activity
--
-- month   <- commits.committed_at
-- version <- commits.commit_sha, commits.first_parent_position, commits.repo, commits.tree_sha

SELECT
  month,
  COUNT(*) || '-' || MD5(
    ARRAY_TO_STRING(
      LIST_SORT(
        ARRAY_AGG(
          MD5(
            CONCAT_WS(' ', repo, commit_sha, COALESCE(tree_before, ''), CAST(on_line AS TEXT))
          )
        )
      ),
      ''
    )
  ) AS version
FROM dated_commits
GROUP BY
  month
