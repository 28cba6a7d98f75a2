"""Watching a lake in a real browser, on the real `dagster dev` with its daemon: ticks, what is stale, plots."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from dagster import DagsterInstance
from dagster._core.scheduler.instigation import ScheduleInstigatorData
from playwright.sync_api import Browser, Locator, Page, expect

from lakehouse_assets_tests.support.command import lakehouse
from lakehouse_assets_tests.support.served import Repos, Served, served_lake
from lakehouse_assets_tests.support.ui import open_page

pytestmark = pytest.mark.slow

TICK_MS = 120_000
"""The daemon looks at its schedules and sensors twice a minute, and a run starts a process."""
SECONDS = 240
SCHEDULE = "/locations/lakehouse_assets/schedules/hourly_table_health"
SENSOR = "/locations/lakehouse_assets/sensors/new_heads"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Two repositories that are synced; `one` has moved on since."""

    def sync_and_move_on(repos: Repos) -> None:
        lakehouse("sync", "--all")
        repos["one"].commit({"one.py": "def other(): ...\n"})

    files = {name: {f"{name}.py": f"def {name}(): ...\n"} for name in ("one", "two")}
    with served_lake(tmp_path_factory.mktemp("watching"), files, sync_and_move_on) as served:
        yield served


def turn_on(page: Page, address: str) -> None:
    """By the switch on its page; the box that it covers is out of sight."""
    page.goto(address)
    switch = page.get_by_role("checkbox")
    expect(switch).to_have_count(1)
    switch.evaluate("box => box.click()")
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(1)


def had_been_on_for_an_hour(schedule: str) -> None:
    """As if it had been turned on an hour ago and the daemon had been down since: there is a tick to catch up on."""
    with DagsterInstance.get() as instance:
        (state,) = [each for each in instance.all_instigator_state() if each.instigator_name == schedule]
        data = state.instigator_data
        assert isinstance(data, ScheduleInstigatorData)
        assert data.start_timestamp is not None
        instance.update_instigator_state(state.with_data(data._replace(start_timestamp=data.start_timestamp - 3600)))


def latest_ticked_run(page: Page) -> Locator:
    return (
        page.get_by_role("row").filter(has_text="1 run requested").get_by_role("link", name=re.compile("^[0-9a-f]{8}$"))
    )


def observed_stale(page: Page, number: int) -> None:
    """The newest observation of `commits` says so."""
    page.goto("/assets/commits?view=events")
    row = page.get_by_role("row").filter(has=page.get_by_text("stale_partitions", exact=True))
    expect(row.get_by_role("cell").nth(1)).to_have_text(str(number))


def see_plots(page: Page, asset: str, names: Sequence[str]) -> None:
    page.goto(f"/assets/{asset}?view=overview")
    page.get_by_role("button", name="Plots").click()
    for name in names:
        expect(page.get_by_text(name, exact=True).first).to_be_visible()
    expect(page.locator("canvas").nth(len(names) - 1)).to_be_visible()
    page.get_by_text(names[0], exact=True).first.scroll_into_view_if_needed()


def test_a_tick_is_seen_and_tells_what_is_stale_then_the_sensor_makes_it_fresh_and_the_numbers_plot(
    served: Served, browser: Browser, tmp_path: Path
):
    with open_page(browser, served.ui, tmp_path) as page:
        turn_on(page, SCHEDULE)
        had_been_on_for_an_hour("hourly_table_health")
        expect(latest_ticked_run(page)).to_be_visible(timeout=TICK_MS)
        page.screenshot(path=tmp_path / "tick.png")
        (tick,) = served.api.ticks("hourly_table_health")
        assert served.api.run_end(tick["runIds"][0], SECONDS) == "SUCCESS"
        observed_stale(page, 1)

        turn_on(page, SENSOR)
        expect(latest_ticked_run(page)).to_be_visible(timeout=TICK_MS)
        (asked,) = [tick for tick in served.api.ticks("new_heads") if tick["runIds"]]
        assert served.api.run_end(asked["runIds"][0], SECONDS) == "SUCCESS"
        page.goto("/assets/snapshots?view=partitions&partition=one")
        expect(page.get_by_role("cell", name=served.head("one"), exact=True)).to_be_visible()
        page.screenshot(path=tmp_path / "fresh.png")

        assert served.api.run_end(served.api.launch("table_health_job"), SECONDS) == "SUCCESS"
        observed_stale(page, 0)
        # What is stale and what is written plot over time where they are told of without partitions.
        see_plots(page, "materializations", ["stale_partitions", "stale_partitions/commits", "rows", "bytes"])
        page.screenshot(path=tmp_path / "stale.png", full_page=True)
        see_plots(page, "writes", ["rows_changed", "bytes_added", "seconds", "seconds/edges"])
        page.screenshot(path=tmp_path / "writes.png", full_page=True)
        see_plots(page, "commits", ["rows_inserted", "bytes_added", "seconds"])  # by partition
        page.screenshot(path=tmp_path / "commits.png", full_page=True)
