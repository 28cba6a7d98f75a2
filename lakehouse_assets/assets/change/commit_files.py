"""The asset `commit_files`. It is not part of a sync: who wants churn asks for it."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import pyarrow as pa
from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.derivations import work_of
from lakehouse_assets.assets.handing_over import handed_over
from lakehouse_assets.assets.options import table_asset
from lakehouse_assets.contracts.commit_files import COMMIT_FILES
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches, joined
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.code_version import code_version
from lakehouse_assets.plan.derivation import Derivation
from lakehouse_assets.plan.sql_text import in_list
from lakehouse_assets.sources.commit_files import CommitTrees, changed_by_commits
from lakehouse_assets.sources.mirror import git_directory

LAST = 2_000
"""Commits of the first-parent line that churn is counted from: enough to tell, and seconds to read."""


@cache
def activity() -> Derivation:
    return Derivation(
        asset=COMMIT_FILES.name,
        inputs=(COMMITS.name,),
        code_version=code_version(changed_by_commits, parameters=[COMMIT_FILES.version, str(LAST)]),
        policy_hash=COMMIT_FILES.policy_hash,
        owner_columns=(),
    )


@asset(
    **table_asset(COMMIT_FILES, group="activity", kinds={"python", "deltalake"}, code_version=activity().code_version),
    deps=["commits"],
)
def commit_files(context: AssetExecutionContext, lakehouse: LakehouseResource) -> Iterator[Output[Batches]]:
    """One row per file that a commit of the last 2,000 on the first-parent line of the head changed."""
    yield from handed_over(touched(lakehouse, context.partition_keys), of=len(context.partition_keys))


@explained()
def touched(lakehouse: LakehouseResource, repos: Sequence[str]) -> Batches:
    """The rows of stale repositories: those of commits that are known already as they are, of new ones from git."""
    failed = FailedPartitions()
    work, untouched = work_of(lakehouse, activity(), repos, failed)
    batches: list[Batch] = []
    for each in work:
        repo = each.key.partition
        with failed.alone(repo):
            (repository,) = lakehouse.registry.get([repo])
            commits = last_commits(lakehouse.lake, repo)
            kept = lakehouse.lake.read(COMMIT_FILES, where=in_list('"repo"', [repo], "datafusion"))
            kept = kept.filter(pa.array([sha in commits for sha in kept["commit_sha"].to_pylist()], pa.bool_()))
            known = set(kept["commit_sha"].to_pylist())
            new = [trees for sha, trees in commits.items() if sha not in known]
            git_dir = git_directory(repository, lakehouse.settings.mirrors)
            rows = pa.concat_tables([kept, changed_by_commits(git_dir, repo, new)])
            batches.append(Batch(rows=rows, keys=(each.key,)))
    return Batches(batches=joined(batches), untouched=untouched, failed=failed)


def last_commits(lake: Lake, repo: str) -> dict[str, CommitTrees]:
    """The last commits of the first-parent line by id, each with the tree before it."""
    columns = ("commit_sha", "tree_sha", "parents", "first_parent_position", "committed_at")
    where = f"""{in_list('"repo"', [repo], "datafusion")} AND "first_parent_position" IS NOT NULL"""
    rows: list[dict[str, Any]] = lake.read(COMMITS, columns=columns, where=where).to_pylist()
    trees = {row["commit_sha"]: row["tree_sha"] for row in rows}
    newest = sorted(rows, key=lambda row: -row["first_parent_position"])[:LAST]
    return {
        row["commit_sha"]: CommitTrees(
            commit_sha=row["commit_sha"],
            tree=row["tree_sha"],
            before=trees[row["parents"][0]] if row["parents"] and row["parents"][0] in trees else None,
            committed_at=row["committed_at"],
        )
        for row in newest
    }
