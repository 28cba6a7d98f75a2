"""What happened in a month, as relational steps over commits and the files that they changed.

A commit belongs to the month of its commit time, in UTC. One whose time is no date belongs to none.
"""

from lakehouse_assets.contracts.churn import CHURN
from lakehouse_assets.contracts.commit_activity import COMMIT_ACTIVITY
from lakehouse_assets.contracts.commit_files import COMMIT_FILES
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.plan.relational_step import RelationalStep, over

DATED_COMMITS = RelationalStep(
    name="dated_commits",
    sql="""
        SELECT CAST(date_trunc('month', c.committed_at AT TIME ZONE 'UTC') AS DATE) AS month,
          c.repo, c.commit_sha, c.tree_sha, p.tree_sha AS tree_before, c.first_parent_position IS NOT NULL AS on_line,
          array_length(c.parents) > 1 AS is_merge, c.author_email, c.committed_at
        FROM {commits} AS c
        LEFT JOIN {commits} AS p ON p.repo = c.repo
          AND p.commit_sha = CASE WHEN array_length(c.parents) > 0 THEN c.parents[1] END
        WHERE c.committed_at IS NOT NULL
    """,
    inputs=over(COMMITS),
    assets=(COMMIT_FILES.name, COMMIT_ACTIVITY.name),
)

# Whatever else is known of a commit follows from its id.
MONTH_VERSIONS = RelationalStep(
    name="month_versions",
    sql="""
        SELECT month, count(*) || '-' || md5(array_to_string(list_sort(list(md5(
          concat_ws(' ', repo, commit_sha, coalesce(tree_before, ''), CAST(on_line AS VARCHAR))))), '')) AS version
        FROM {dated_commits} GROUP BY month
    """,
    inputs=over(DATED_COMMITS),
    assets=(COMMIT_FILES.name, COMMIT_ACTIVITY.name),
)

COMMIT_ACTIVITY_ROWS = RelationalStep(
    name="commit_activity",
    sql="""
        SELECT month, repo, count(*) AS commits, count(*) FILTER (WHERE on_line) AS line_commits,
          count(*) FILTER (WHERE is_merge) AS merges, count(DISTINCT author_email) AS authors,
          min(committed_at) AS first_commit_at, max(committed_at) AS last_commit_at
        FROM {dated_commits} GROUP BY month, repo ORDER BY month, repo
    """,
    inputs=over(DATED_COMMITS),
    output=COMMIT_ACTIVITY,
    assets=(COMMIT_ACTIVITY.name,),
)

CHURN_ROWS = RelationalStep(
    name="churn",
    sql="""
        SELECT month, repo, path, count(*) AS commits, count(*) FILTER (WHERE is_deleted) AS deletions,
          min(committed_at) AS first_changed_at, max(committed_at) AS last_changed_at
        FROM {commit_files} GROUP BY month, repo, path ORDER BY month, repo, path
    """,
    inputs=over(COMMIT_FILES),
    output=CHURN,
    assets=(CHURN.name,),
)

ACTIVITY_STEPS = (DATED_COMMITS, MONTH_VERSIONS, COMMIT_ACTIVITY_ROWS, CHURN_ROWS)
