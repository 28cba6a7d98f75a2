"""Checks that what updates have made of some files is what a clean build makes of them, and a schedule for them.

`lakehouse verify` compares all of a repository, at the cost of building it. These look at a few files of one repository
at a time, another one and others each time, so that over the days all of the lake is looked at. Rows that differ are
shown with the check.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from dagster import (
    AssetCheckExecutionContext,
    AssetCheckResult,
    AssetCheckSpec,
    AssetSelection,
    Config,
    DefaultScheduleStatus,
    MetadataValue,
    RunConfig,
    RunRequest,
    ScheduleEvaluationContext,
    define_asset_job,
    multi_asset_check,
    schedule,
)
from pydantic import Field

from lakehouse_assets.assets.graph.sample import SAMPLED_TABLES, compared_sample, sample_of
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.lake.comparison import Difference
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.io_metadata import rows_table
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.plan.cursors import read_position

CHECK = "as_clean"
FILES = 20


class SampleConfig(Config):
    """What to look at; nothing said: a repository and files by the hour."""

    repository: str = Field(default="", description="Name of a repository; empty: another one each hour.")
    files: int = Field(default=FILES, ge=1, description="How many of its files.")
    seed: str = Field(default="", description="Which of its files; empty: others each hour.")


@multi_asset_check(
    name="compare_sample",  # a job and a step cannot have one name
    specs=[
        AssetCheckSpec(
            CHECK, asset=each.name, description=f"Rows of {each.name} of some files are as in a clean build."
        )
        for each in SAMPLED_TABLES
    ],
    can_subset=True,
)
def verify_sample(
    context: AssetCheckExecutionContext, config: SampleConfig, lakehouse: LakehouseResource
) -> Iterator[AssetCheckResult]:
    """Made clean in this process and compared, file by file."""
    asked = {key.asset_key.path[-1]: key.asset_key for key in context.selected_asset_check_keys}
    seed = config.seed or f"{datetime.now(UTC):%Y-%m-%d %H}"
    repo = config.repository or _chosen(lakehouse, seed)
    if repo is None:
        for asset in asked.values():
            yield AssetCheckResult(
                asset_key=asset,
                check_name=CHECK,
                passed=True,
                description="No repository is up to its commit: nothing to compare.",
            )
        return
    with explained():
        paths = sample_of(lakehouse.lake, repo, files=config.files, seed=seed)
        found = compared_sample(lakehouse, repo, paths)
    for each in found:
        if each.table in asked:
            yield AssetCheckResult(
                asset_key=asked[each.table],
                check_name=CHECK,
                passed=not each.is_there,
                description=_told(each, repo, len(paths)),
                metadata={
                    "repository": repo,
                    "files": MetadataValue.json(list(paths)),
                    "rows_compared": each.rows,
                    "only_in_the_lake": each.surplus,
                    "only_in_a_clean_build": each.lacking,
                    "owners_that_differ": MetadataValue.json(list(each.owners)),
                }
                | ({"failing_rows": rows_table(each.examples)} if each.examples else {}),
            )


VERIFY_SAMPLE_JOB = define_asset_job(
    name="verify_sample",
    description="Compare a few files of one repository with what a clean build makes of them.",
    selection=AssetSelection.checks(verify_sample),
)


@schedule(
    job=VERIFY_SAMPLE_JOB,
    cron_schedule="30 * * * *",
    default_status=DefaultScheduleStatus.STOPPED,
    description="Compares a few files with a clean build at every half hour, of another repository each time.",
)
def hourly_verify_sample(context: ScheduleEvaluationContext) -> RunRequest:
    """The hour decides what is looked at, so that a repeated tick looks at the same."""
    seed = f"{context.scheduled_execution_time:%Y-%m-%d %H}"
    return RunRequest(run_key=seed, run_config=RunConfig(ops={"compare_sample": SampleConfig(seed=seed)}))


def _chosen(lakehouse: LakehouseResource, seed: str) -> str | None:
    """One of the repositories whose graph is at its commit: in the midst of an update nothing can be compared."""
    latest = lakehouse.ledger.latest([COMMITS, GRAPH_VERSIONS])
    whole: list[str] = []
    for (table, repo), entry in latest.items():
        published = read_position(entry.cursor) if table == GRAPH_VERSIONS.name else None
        at = latest.get((COMMITS.name, repo))
        if published is not None and at is not None and published.commit == at.cursor:
            whole.append(repo)
    return min(whole, key=lambda repo: fingerprint([seed, repo]), default=None)


def _told(each: Difference, repo: str, files: int) -> str:
    if not each.is_there:
        return f"{each.rows:,} rows of {files} files of {repo} are as in a clean build."
    where = ", ".join(each.owners) or "rows without an owner"
    return (
        f"{each.surplus + each.lacking:,} rows of {repo} differ from a clean build, in {where}. "
        f"`lakehouse verify {repo}` compares all of it."
    )
