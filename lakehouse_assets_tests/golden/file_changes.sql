-- step file_changes, fingerprint 8135da3113002a99, duckdb
-- helps to make file_changes
--
-- repo         <- snapshots.repo
-- path         <- snapshots.path
-- change       <- snapshots.blob_sha, snapshots.path
-- old_path     <- snapshots.path
-- old_blob     <- snapshots.blob_sha
-- new_blob     <- snapshots.blob_sha
-- old_mode     <- snapshots.mode
-- new_mode     <- snapshots.mode
-- old_language <- snapshots.language
-- new_language <- snapshots.language
-- similarity   <- blobs.text, snapshots.blob_sha
-- from_commit  <- commits.commit_sha
-- to_commit    <- commits.commit_sha

SELECT
  COALESCE(n.repo, o.repo) AS repo,
  COALESCE(n.path, o.path) AS path,
  CASE
    WHEN o.path IS NULL
    THEN 'added'
    WHEN n.path IS NULL
    THEN 'deleted'
    WHEN o.path <> n.path
    THEN 'renamed'
    WHEN o.blob_sha <> n.blob_sha
    THEN 'modified'
    ELSE 'mode_changed'
  END AS change,
  o.path AS old_path,
  o.blob_sha AS old_blob,
  n.blob_sha AS new_blob,
  o.mode AS old_mode,
  n.mode AS new_mode,
  o.language AS old_language,
  n.language AS new_language,
  o.similarity,
  c.from_commit,
  c.to_commit
FROM (
  SELECT
    b.repo,
    b.path,
    b.blob_sha,
    b.mode,
    b.language,
    r.similarity,
    COALESCE(r.path, b.path) AS present_path
  FROM before AS b
  LEFT JOIN renames AS r
    ON r.repo = b.repo AND r.old_path = b.path
) AS o
FULL JOIN after AS n
  ON n.repo = o.repo AND n.path = o.present_path
JOIN commits_between AS c
  ON c.of_repo = COALESCE(n.repo, o.repo)
WHERE
  o.path IS NULL
  OR n.path IS NULL
  OR o.path <> n.path
  OR o.blob_sha <> n.blob_sha
  OR o.mode <> n.mode
ORDER BY
  repo,
  path
