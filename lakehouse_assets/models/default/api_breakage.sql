/* model
description: >
  One row per public definition that an update removed, moved to another name or gave another signature, by the commit
  that the update brought. Rows of earlier updates stay.
owner: team:lakehouse
tags: [change]
materialization: by_key
key: [repo, commit_sha, path, symbol]
cluster_by: [repo, commit_sha]
columns:
  repo: Name of the repository.
  commit_sha: Commit that the update brought the repository to.
  from_commit: Commit before the update.
  path: File of the definition; of a removed one, where it was.
  symbol: Its symbol; of a removed one the symbol it had.
  name: Its own name.
  kind: What it is.
  breakage: removed, moved or signature_changed.
  old_signature: Signature before.
  signature: Signature now.
  users: Definitions in all repositories that use it as the graph is now.
audits:
  - accepted_values: {breakage: [removed, moved, signature_changed]}
*/
WITH users AS (
  SELECT dst_repo AS repo, dst_def AS def_id, COUNT(*) AS users
  FROM (SELECT DISTINCT repo, path, src_def, dst_repo, dst_def FROM links WHERE external IS NULL) AS used
  GROUP BY dst_repo, dst_def
)
SELECT
  d.repo, d.to_commit AS commit_sha, d.from_commit, d.path, d.symbol, d.name, d.kind, d.change AS breakage,
  d.old_signature, d.signature, COALESCE(u.users, 0) AS users
FROM diffs AS d
LEFT JOIN users AS u ON u.repo = d.repo AND u.def_id = d.old_def_id
WHERE d.change IN ('removed', 'signature_changed', 'moved')
  AND (d.change <> 'moved' OR d.symbol <> d.old_symbol)
  AND NOT STARTSWITH(d.name, '_')
  AND d.kind IN ('function', 'method', 'class')
