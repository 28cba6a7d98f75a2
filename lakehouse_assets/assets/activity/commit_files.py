"""The asset `commit_files`.

A repository that cannot be read keeps the rows that it has, and the step fails in its name. Its months say that they
lack it, so that they stay stale, and the next run tries again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby
from typing import Any

import pyarrow as pa
from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.activity.months import month_batches, month_tasks, months_engine
from lakehouse_assets.assets.options import table_asset
from lakehouse_assets.assets.run import made_by
from lakehouse_assets.contracts.commit_files import COMMIT_FILES
from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.activity import DatedCommits
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.failures import explained, partitions_failure
from lakehouse_assets.lake.local_engine import local_engine
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.plan.derivation import Task
from lakehouse_assets.plan.makes import Makes
from lakehouse_assets.plan.sql_text import in_list
from lakehouse_assets.recipes.activity import COMMIT_FILES_RECIPE
from lakehouse_assets.sources.commit_files import CommitTrees, changed_by_commits
from lakehouse_assets.sources.mirror import git_directory


@dataclass(frozen=True, kw_only=True)
class Touched:
    """The rows of stale months, and by repository why its commits were not read."""

    batches: Batches
    unread: Mapping[str, LakehouseError]
    repositories: int
    tasks: tuple[Task, ...]


@asset(**table_asset(COMMIT_FILES_RECIPE))
def commit_files(context: AssetExecutionContext, lakehouse: LakehouseResource) -> Iterator[Output[Batches]]:
    """One row per file that a commit on the first-parent line of a head changed."""
    lakehouse.hold_months()
    made = touched(lakehouse, context.partition_keys, made_by(context))
    months_engine(context, lakehouse, COMMIT_FILES, made.tasks)  # decides who writes; git was read here
    yield Output(made.batches)
    if made.unread:
        raise partitions_failure(made.unread, of=made.repositories)


@explained()
def touched(lakehouse: LakehouseResource, months: Sequence[str], makes: Makes = "stale") -> Touched:
    """The rows of months that are to be made, all of them from git: some two thousand commits a second."""
    latest = lakehouse.ledger.latest([COMMIT_FILES])
    with local_engine() as engine:
        commits = DatedCommits(engine, lakehouse.lake)
        tasks, untouched = month_tasks(COMMIT_FILES_RECIPE, months, commits.versions(), latest, makes)
        wanted = commits.on_line([task.key.partition for task in tasks])
    failed = FailedPartitions()
    rows = [*_read(lakehouse, wanted, failed), _kept(lakehouse, tasks, list(failed.errors))]
    places = {(row["month"].isoformat(), row["repo"]) for row in wanted}
    tasks = [_without(task, [repo for repo in failed.errors if (task.key.partition, repo) in places]) for task in tasks]
    return Touched(
        batches=Batches(batches=month_batches(tasks, pa.concat_tables(rows)), untouched=untouched),
        unread=failed.errors,
        repositories=len({repo for _, repo in places}),
        tasks=tuple(tasks),
    )


def _kept(lakehouse: LakehouseResource, tasks: Sequence[Task], repos: Sequence[str]) -> pa.Table:
    """The rows that the months have of repositories that cannot be read now."""
    days = [date.fromisoformat(task.key.partition) for task in tasks]
    places = [in_list('"month"', days, "datafusion"), in_list('"repo"', repos, "datafusion")]
    return lakehouse.lake.read(COMMIT_FILES, where=" AND ".join(places) if days and repos else "FALSE")


def _read(
    lakehouse: LakehouseResource, commits: Sequence[Mapping[str, Any]], failed: FailedPartitions
) -> Iterator[pa.Table]:
    """The files of the commits, repository by repository."""
    for repo, rows in groupby(commits, key=lambda row: row["repo"]):
        with failed.alone(repo):
            (repository,) = lakehouse.registry.get([repo])
            trees = [
                CommitTrees(
                    month=row["month"],
                    commit_sha=row["commit_sha"],
                    tree=row["tree_sha"],
                    before=row["tree_before"],
                    committed_at=row["committed_at"],
                )
                for row in rows
            ]
            yield changed_by_commits(git_directory(repository, lakehouse.settings.mirrors), repo, trees)


def _without(task: Task, repos: Sequence[str]) -> Task:
    """The task with a key that tells what its rows lack."""
    if not repos:
        return task
    return replace(task, key=replace(task.key, input_versions=json_text({"commits": f"without {', '.join(repos)}"})))
