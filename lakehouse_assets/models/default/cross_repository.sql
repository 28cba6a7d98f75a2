/* model
description: One row per file that relies on another repository, and what it relies on there.
owner: team:lakehouse
tags: [graph]
materialization: by_partition
key: [repo, path, used_repo, used_path, kind]
partition_by: [repo]
cluster_by: [path]
columns:
  repo: Repository that relies on another.
  path: File in it.
  used_repo: Repository that it relies on.
  used_path: File in that.
  kind: "How: IMPORT, CALL, INHERITS and the like."
  uses: Places where it does.
  definitions: Different definitions that it relies on there.
audits:
  - other_repository: SELECT * FROM this WHERE repo = used_repo
*/
SELECT repo, path, dst_repo AS used_repo, dst_path AS used_path, kind,
  COUNT(*) AS uses, COUNT(DISTINCT dst_def) AS definitions
FROM links
WHERE dst_repo <> repo AND external IS NULL
GROUP BY repo, path, dst_repo, dst_path, kind
