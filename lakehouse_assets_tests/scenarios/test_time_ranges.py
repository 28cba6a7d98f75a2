"""Models by time: intervals are built once, gaps are found, ranges are restated where nobody else sees it."""

from datetime import date
from pathlib import Path

import pytest

from lakehouse_assets.cli.apply import print_plan
from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.environment_changes import promote
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.models.explain import said_parts
from lakehouse_assets.models.intervals import intervals, merged, read_span
from lakehouse_assets_tests.support.model_lake import ModelLake
from lakehouse_assets_tests.support.models import model_text

EVENTS = TableContract(
    name="events",
    description="One row per event.",
    columns=(
        Column(name="repo", type="string", description="Repository."),
        Column(name="number", type="int", description="Its number."),
        Column(name="day", type="date", description="When it was."),
        Column(name="weight", type="int", description="How much it counts."),
    ),
    key=("repo", "number"),
    partition_by=("repo",),
    strategy="upsert",
)
DAILY = model_text(
    "SELECT day, SUM(weight) AS weight FROM events GROUP BY day",
    materialization="by_time",
    key="[day]",
    time_column="day",
    start="2026-02-01",
)


def event(number: int, day: int, weight: int = 1, month: int = 2) -> dict[str, object]:
    return {"repo": "a", "number": number, "day": date(2026, month, day), "weight": weight}


@pytest.fixture
def days(lake: Lake, tmp_path: Path) -> ModelLake:
    """Events on three days, in a table that no contract of ours knows, and their sum by day, applied on the 4th."""
    found = ModelLake(lake, tmp_path / "models")
    found.rows(EVENTS, [event(1, 1), event(2, 2, 5), event(3, 3)])
    found.models(daily=DAILY)
    found.create("prod")
    assert found.ran("prod", today=date(2026, 2, 4)) == ["daily"]
    return found


def weights(lake: ModelLake, environment: str = "prod") -> dict[int, int]:
    rows = lake.ask(environment, "SELECT day, weight FROM daily ORDER BY day")
    return {row["day"].day: row["weight"] for row in rows}


def parts(lake: ModelLake, day: int, **more: object) -> str:
    plan = lake.plan(str(more.pop("environment", "prod")), today=date(2026, 2, day), **more)  # pyright: ignore[reportArgumentType]
    return said_parts(plan.steps[0])


def test_each_day_is_built_once_and_only_when_it_is_over(days: ModelLake):
    assert weights(days) == {1: 1, 2: 5, 3: 1}
    assert parts(days, 4) == ""
    days.rows(EVENTS, [event(1, 1, 9), event(2, 2, 5), event(3, 3), event(4, 4), event(5, 5)])
    assert parts(days, 6) == "2026-02-04..2026-02-06"
    days.ran("prod", today=date(2026, 2, 6))
    assert weights(days) == {1: 1, 2: 5, 3: 1, 4: 1, 5: 1}  # the first stays as it was built


def test_days_that_stay_as_they_were_built_though_their_inputs_moved_are_told_with_the_way_to_build_them(
    days: ModelLake,
):
    assert days.plan("prod", today=date(2026, 2, 4)).steps[0].reason == "its inputs hold what it was made from"
    days.rows(EVENTS, [event(1, 1, 9), event(2, 2, 5), event(3, 3)])
    (step,) = days.plan("prod", today=date(2026, 2, 4)).steps
    assert (step.action, step.closed) == ("keep", ("2026-02-01", "2026-02-02", "2026-02-03"))
    assert "events moved since 2026-02-01..2026-02-04 was built" in step.reason
    assert days.apply("prod", today=date(2026, 2, 4)).skipped["daily"] == step.reason
    (step,) = days.plan("prod", today=date(2026, 2, 5)).steps
    assert step.reason.startswith("1 of its parts are missing; events moved since 2026-02-01..2026-02-04 was built")
    # What it says to do gives the rows that a sum over the table gives.
    restate = step.reason.partition("--restate ")[2].partition(",")[0]
    days.ran("prod", restate=[restate], today=date(2026, 2, 4))
    assert weights(days) == {1: 9, 2: 5, 3: 1}
    assert days.plan("prod", today=date(2026, 2, 4)).steps[0].reason == "its inputs hold what it was made from"


def test_the_way_to_build_closed_days_once_more_is_printed_in_full(days: ModelLake, capsys: pytest.CaptureFixture[str]):
    print_plan(days.plan("prod", today=date(2026, 2, 4)), as_json=False)
    assert "--restate" not in capsys.readouterr().out
    days.rows(EVENTS, [event(1, 1, 9), event(2, 2, 5), event(3, 3)])
    print_plan(days.plan("prod", today=date(2026, 2, 4)), as_json=False)
    assert "if rows of these days changed, --restate daily:2026-02-01..2026-02-04, or set a" in capsys.readouterr().out


def test_days_looked_back_at_are_built_again_when_their_inputs_moved(days: ModelLake):
    days.models(daily=DAILY.replace("start:", "lookback: 2\nstart:"))
    assert days.ran("prod", today=date(2026, 2, 4)) == []
    days.rows(EVENTS, [event(1, 1, 9), event(2, 2, 8), event(3, 3, 7)])
    assert parts(days, 4) == "2026-02-02..2026-02-04"
    days.ran("prod", today=date(2026, 2, 4))
    assert weights(days) == {1: 1, 2: 8, 3: 7}


def test_a_range_restated_in_dev_leaves_prod_alone_and_takes_the_rest_over(days: ModelLake):
    days.create("dev", base="prod")
    days.rows(EVENTS, [event(1, 1, 9), event(2, 2, 8), event(3, 3, 7)])
    asked = {"restate": ["daily:2026-02-02..2026-02-03"], "today": date(2026, 2, 4)}
    assert parts(days, 4, environment="dev", restate=asked["restate"]) == (
        "2026-02-02..2026-02-03, taken over: 2026-02-01..2026-02-02, 2026-02-03..2026-02-04"
    )
    assert days.ran("dev", **asked) == ["daily"]
    assert (weights(days, "dev"), weights(days)) == ({1: 1, 2: 8, 3: 1}, {1: 1, 2: 5, 3: 1})
    # It stays restated until the model means something else, and prod is unaware of it.
    assert days.ran("dev", today=date(2026, 2, 4)) == []
    assert days.ran("prod", today=date(2026, 2, 4)) == []
    assert weights(days) == {1: 1, 2: 5, 3: 1}
    promote(days.lake, "dev", "prod", today=date(2026, 2, 4))
    assert weights(days) == {1: 1, 2: 8, 3: 1}


def test_what_means_something_else_now_is_not_taken_over(days: ModelLake):
    days.create("dev", base="prod")
    days.models(daily=DAILY.replace("SUM(weight)", "SUM(weight) + 100"))
    days.ran("dev", restate=["daily:2026-02-02..2026-02-03"], today=date(2026, 2, 4))
    assert weights(days, "dev") == {1: 101, 2: 105, 3: 101}


def test_a_range_of_a_model_without_time_is_refused(days: ModelLake):
    days.models(total=model_text("SELECT repo, SUM(weight) AS weight FROM events GROUP BY repo", key="[repo]"))
    days.ran("prod", today=date(2026, 2, 4))
    with pytest.raises(BadInputError, match="total is stored as full, not by time"):
        days.plan("prod", restate=["total:2026-02-02..2026-02-03"])


def test_an_environment_builds_its_own_days_and_is_not_promoted_with_gaps(days: ModelLake):
    days.create("dev", base="prod", start=date(2026, 2, 2), end=date(2026, 2, 3))
    days.models(daily=DAILY.replace("SUM(weight)", "SUM(weight) + 1"))
    assert parts(days, 4, environment="dev") == "2026-02-02..2026-02-03"
    days.ran("dev", today=date(2026, 2, 4))
    assert weights(days, "dev") == {2: 6}
    with pytest.raises(BadInputError, match=r"has not built 2026-02-01\.\.2026-02-02, 2026-02-03\.\.2026-02-04"):
        promote(days.lake, "dev", "prod", today=date(2026, 2, 4))
    assert parts(days, 4) == "2026-02-01..2026-02-02, 2026-02-03..2026-02-04"
    days.ran("prod", today=date(2026, 2, 4))
    assert weights(days) == {1: 2, 2: 6, 3: 2}


def test_intervals_are_whole_and_half_open():
    assert intervals("day", date(2026, 2, 27), date(2026, 3, 2)) == ["2026-02-27", "2026-02-28", "2026-03-01"]
    assert intervals("month", date(2025, 12, 5), date(2026, 2, 15)) == ["2025-12-01", "2026-01-01"]
    assert [str(span) for span in merged("month", ["2025-12-01", "2026-01-01", "2026-03-01"])] == [
        "2025-12-01..2026-02-01",
        "2026-03-01..2026-04-01",
    ]


@pytest.mark.parametrize("text", ["2026-02-01", "2026-02-02..2026-02-01", "x..y", "2026-02-01..2026-02-01"])
def test_a_range_that_is_none_is_refused(text: str):
    with pytest.raises(BadInputError, match="two days"):
        read_span(text)
