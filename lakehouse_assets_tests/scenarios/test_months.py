"""What is told of months: a new commit changes its own month, and no other.

one: January ── February ── February'      two: February
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from dagster import DagsterInstance, SkipReason, build_schedule_context, materialize

from lakehouse_assets.assets.activity.churn import churn
from lakehouse_assets.assets.activity.commit_activity import commit_activity
from lakehouse_assets.assets.activity.commit_files import commit_files
from lakehouse_assets.assets.activity.months import MONTH_TABLES, stale_months
from lakehouse_assets.assets.git.commits import commits
from lakehouse_assets.assets.removal import remove_repositories
from lakehouse_assets.automation.activity import monthly_activity, stretched
from lakehouse_assets.contracts.churn import CHURN
from lakehouse_assets.contracts.commit_activity import COMMIT_ACTIVITY
from lakehouse_assets.contracts.commit_files import COMMIT_FILES
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.failures import errors_in
from lakehouse_assets.lake.io_manager import DeltaIOManager
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.run_partitions import range_tags
from lakehouse_assets.plan.makes import ONLY_STALE
from lakehouse_assets_tests.support.git_assets import GitAssets, NoSpark
from lakehouse_assets_tests.support.repos import RepoBuilder, registered

ASSETS: list[Any] = [commits, commit_files, commit_activity, churn]
OF_MONTHS = ASSETS[1:]
JANUARY, FEBRUARY, MARCH = "2024-01-01", "2024-02-01", "2024-03-01"


def at(day: int, month: int = 1) -> int:
    return int(datetime(2024, month, day, 12, tzinfo=UTC).timestamp())


@dataclass
class Months:
    """Two repositories whose commits are of January and February, and runs of the assets of months."""

    git: GitAssets
    one: RepoBuilder
    two: RepoBuilder
    first: str

    def run(self, *months: str) -> list[str]:
        """Bring commits up, then these months, or all that are stale; gives those that are stale still."""
        self.git.run(assets=[commits])
        for names in [list(months)] if months else stretched(stale_months(self.git.lake)):
            assert self.make(names).success
        return sorted(stale_months(self.git.lake))

    def make(self, months: list[str], *, raise_on_error: bool = True) -> Any:
        lakehouse, spark = LakehouseResource(), NoSpark()
        return materialize(
            ASSETS,
            selection=OF_MONTHS,
            instance=DagsterInstance.ephemeral(),
            tags={**range_tags(months), **ONLY_STALE},
            resources={
                "lakehouse": lakehouse,
                "spark": spark,
                "delta": DeltaIOManager(lakehouse=lakehouse, spark=spark),
            },
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            raise_on_error=raise_on_error,
        )

    def rows(self, contract: TableContract, *columns: str) -> list[tuple[Any, ...]]:
        return sorted(tuple(row[name] for name in columns) for row in self.git.lake.read(contract).to_pylist())

    def files(self, contract: TableContract) -> dict[str, set[str]]:
        """By month the data files that hold its rows."""
        found: dict[str, set[str]] = {}
        for path in self.git.lake.open(contract).file_uris():
            found.setdefault(Path(path).parent.name.removeprefix("month="), set()).add(path)
        return found


@pytest.fixture
def months(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Months:
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    one, two = RepoBuilder(tmp_path / "one"), RepoBuilder(tmp_path / "two")
    first = one.commit({"a.py": "1", "b.py": "1"}, time=at(10))
    one.commit({"a.py": "2"}, time=at(3, 2))
    one.commit({"a.py": "3", "b.py": None}, time=at(4, 2), author=b"Bob <bob@example.org>")
    two.commit({"c.py": "1"}, time=at(5, 2))
    git = GitAssets(settings, registered(one.path, name="one"), registered(two.path, name="two"))
    made = Months(git=git, one=one, two=two, first=first)
    assert made.run() == []
    return made


def test_a_month_has_the_commits_that_were_made_in_it_and_the_files_that_they_changed(months: Months):
    counted = months.rows(COMMIT_ACTIVITY, "month", "repo", "commits", "line_commits", "merges", "authors")
    assert counted == [
        (date(2024, 1, 1), "one", 1, 1, 0, 1),
        (date(2024, 2, 1), "one", 2, 2, 0, 2),
        (date(2024, 2, 1), "two", 1, 1, 0, 1),
    ]
    assert months.rows(CHURN, "month", "repo", "path", "commits", "deletions") == [
        (date(2024, 1, 1), "one", "a.py", 1, 0),
        (date(2024, 1, 1), "one", "b.py", 1, 0),
        (date(2024, 2, 1), "one", "a.py", 2, 0),
        (date(2024, 2, 1), "one", "b.py", 1, 1),
        (date(2024, 2, 1), "two", "c.py", 1, 0),
    ]


def test_a_new_commit_makes_its_month_stale_and_changes_the_rows_of_no_other(months: Months):
    before = {contract: months.files(contract) for contract in MONTH_TABLES}
    months.one.commit({"d.py": "1"}, time=at(20, 2))
    months.git.run(assets=[commits])
    assert list(stale_months(months.git.lake)) == [FEBRUARY]
    months.run(JANUARY, FEBRUARY)  # asking for a fresh one as well writes nothing of it
    for contract in MONTH_TABLES:
        after = months.files(contract)
        assert after[JANUARY] == before[contract][JANUARY], contract.name
        assert after[FEBRUARY] != before[contract][FEBRUARY], contract.name
    assert (date(2024, 2, 1), "one", 3) in months.rows(COMMIT_ACTIVITY, "month", "repo", "commits")
    assert (date(2024, 2, 1), "d.py", 1) in months.rows(CHURN, "month", "path", "commits")


def test_a_commit_of_a_new_month_writes_that_month_only(months: Months):
    before = {contract: months.files(contract) for contract in MONTH_TABLES}
    months.two.commit({"c.py": "2"}, time=at(1, 3))
    assert months.run() == []
    for contract in MONTH_TABLES:
        after = months.files(contract)
        assert {month: after[month] for month in before[contract]} == before[contract], contract.name
        assert set(after) == {JANUARY, FEBRUARY, MARCH}


def test_commits_that_are_gone_take_their_rows_along(months: Months):
    months.one.repository.references.create("refs/heads/main", months.first, force=True)
    assert months.run() == []
    assert {row[1] for row in months.rows(CHURN, "month", "repo") if row[0] == date(2024, 2, 1)} == {"two"}


def test_a_side_branch_counts_as_commits_and_its_merge_as_what_it_brought(months: Months):
    tip = str(months.one.repository.references["refs/heads/main"].target)
    side = months.one.commit({"side.py": "1"}, branch="side", parents=[tip], time=at(10, 2))
    months.one.commit({"side.py": "1"}, parents=[tip, side], time=at(2, 3))
    assert months.run() == []
    counted = months.rows(COMMIT_ACTIVITY, "month", "repo", "commits", "line_commits", "merges")
    assert (date(2024, 2, 1), "one", 3, 2, 0) in counted
    assert (date(2024, 3, 1), "one", 1, 1, 1) in counted
    touched = months.rows(COMMIT_FILES, "month", "repo", "path")
    assert (date(2024, 3, 1), "one", "side.py") in touched
    assert (date(2024, 2, 1), "one", "side.py") not in touched


def test_a_repository_that_cannot_be_read_fails_in_its_name_and_is_tried_again(months: Months):
    months.one.commit({"e.py": "1"}, time=at(21, 2))
    months.two.commit({"c.py": "3"}, time=at(22, 2))
    months.git.run(assets=[commits])
    away = months.one.path.rename(months.one.path.with_name("away"))
    result = months.make([FEBRUARY], raise_on_error=False)
    (failure,) = [event for event in result.all_events if event.is_step_failure]
    assert list(errors_in(failure.step_failure_data.user_failure_data.metadata)) == ["one"]
    changed = [row[1:] for row in months.rows(COMMIT_FILES, "month", "repo", "path") if row[0] == date(2024, 2, 1)]
    assert changed.count(("two", "c.py")) == 2
    assert changed.count(("one", "a.py")) == 2  # as they were
    away.rename(months.one.path)
    assert list(stale_months(months.git.lake)) == [FEBRUARY]
    assert months.run() == []
    assert (date(2024, 2, 1), "one", "e.py", 1) in months.rows(CHURN, "month", "repo", "path", "commits")


def test_a_repository_that_is_removed_takes_its_rows_along(months: Months, settings: Settings):
    deleted = remove_repositories(settings, ["one"], keep_rows=False)
    assert {name: deleted[name] for name in ("commit_files", "commit_activity", "churn")} == {
        "commit_files": 5,
        "commit_activity": 2,
        "churn": 4,
    }
    assert list(stale_months(months.git.lake)) == [JANUARY, FEBRUARY]  # what they hold was not counted


def test_the_schedule_asks_for_the_stale_months_and_for_none_if_all_are_fresh(months: Months):
    def asked() -> Any:
        context = build_schedule_context(scheduled_execution_time=datetime(2024, 3, 1, 4, tzinfo=UTC))
        return monthly_activity(context)

    assert isinstance(asked(), SkipReason)
    months.two.commit({"c.py": "2"}, time=at(1, 3))
    months.one.commit({"a.py": "9"}, time=at(9))
    months.git.run(assets=[commits])
    (request,) = asked()
    assert request.tags == range_tags([JANUARY, FEBRUARY, MARCH])


def test_stretches_leave_out_runs_that_nothing_is_stale_in():
    runs = stretched(["1990-01-01", "2024-01-01"])
    assert [(each[0], each[-1]) for each in runs] == [("1990-01-01", "1999-12-01"), ("2020-01-01", "2024-01-01")]
    assert stretched([]) == []
