"""Watching a lake in a real browser, on the real `dagster dev` with its daemon: ticks, what is stale, plots."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from dagster import DagsterInstance
from dagster._core.scheduler.instigation import ScheduleInstigatorData
from playwright.sync_api import Browser, Locator, Page, expect

from lakehouse_assets.core.settings import PROJECT_ROOT, load_settings
from lakehouse_assets_tests.support.command import lakehouse
from lakehouse_assets_tests.support.graphql import GraphQL
from lakehouse_assets_tests.support.repos import RepoBuilder
from lakehouse_assets_tests.support.ui import DagsterUI, chromium, dagster_dev, open_page

pytestmark = pytest.mark.slow

TICK_MS = 120_000
"""The daemon looks at its schedules and sensors twice a minute, and a run starts a process."""
SECONDS = 240
SCHEDULE = "/locations/lakehouse_assets/schedules/hourly_table_health"
SENSOR = "/locations/lakehouse_assets/sensors/new_heads"


@dataclass(frozen=True, kw_only=True)
class Served:
    """The served UI of a lake with two repositories that are synced; `one` has moved on since."""

    ui: DagsterUI
    head: str

    @property
    def api(self) -> GraphQL:
        return GraphQL(self.ui.url)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("watching")
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("LAKEHOUSE_HOME", str(folder / "home"))
        environ.setenv("DAGSTER_HOME", str(PROJECT_ROOT))
        environ.setenv("LAKEHOUSE_EXECUTOR", "delta-rs")
        repos = {name: RepoBuilder(folder / name) for name in ("one", "two")}
        for name, repo in repos.items():
            repo.commit({f"{name}.py": f"def {name}(): ...\n"})
            lakehouse("repo", "add", name, str(repo.path))
        lakehouse("sync", "--all")
        head = repos["one"].commit({"one.py": "def other(): ...\n"})
        with dagster_dev(load_settings(), folder / "dagster.log") as ui:
            yield Served(ui=ui, head=head)


@pytest.fixture(scope="module")
def browser(served: Served) -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


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
        expect(page.get_by_role("cell", name=served.head, exact=True)).to_be_visible()
        page.screenshot(path=tmp_path / "fresh.png")

        assert served.api.run_end(served.api.launch("table_health_job"), SECONDS) == "SUCCESS"
        observed_stale(page, 0)
        page.goto("/assets/commits?view=overview")
        page.get_by_role("button", name="Plots").click()
        for name in ("rows_inserted", "bytes_added", "seconds"):
            expect(page.get_by_text(name, exact=True).first).to_be_visible()
        expect(page.locator("canvas").first).to_be_visible()
        page.screenshot(path=tmp_path / "plots.png", full_page=True)
