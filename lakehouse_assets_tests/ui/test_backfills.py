"""Backfills on the real `dagster dev` with its daemon: in a real browser, and by what its pages ask of Dagster."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from lakehouse_assets_tests.support.command import lakehouse_json
from lakehouse_assets_tests.support.graph_lake import sync_assets
from lakehouse_assets_tests.support.repos import git
from lakehouse_assets_tests.support.served import Repos, Served, served_lake
from lakehouse_assets_tests.support.ui import open_page

pytestmark = pytest.mark.slow

NAMES = [f"r{number}" for number in range(10)]
BROKEN = "r5"
ALL = [key.path[-1] for each in sync_assets() for key in each.keys]
DONE_SECONDS = 300
DONE_MS = 300_000
"""A backfill waits for the daemon's tick and starts a process."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Ten repositories of which one has a corrupt object."""

    def corrupt(repos: Repos) -> None:
        repos[BROKEN].corrupt(git(repos[BROKEN].path, "rev-parse", f"HEAD:{BROKEN}.py").decode().strip())

    files = {name: {"same.py": "def f(): ...\n", f"{name}.py": f"def {name}(): ...\n"} for name in NAMES}
    with served_lake(tmp_path_factory.mktemp("backfills"), files, corrupt) as served:
        yield served


def launch(page: Page, which: str) -> None:
    """Backfill the partitions of the job that are in this state."""
    page.goto("/locations/lakehouse_assets/jobs/sync")
    page.get_by_role("button", name="Materialize all").click()
    page.get_by_role("button", name=which, exact=True).click()
    page.get_by_role("button", name=re.compile("^Launch")).last.click()


def see_states(page: Page, asset: str, *, failed: int, made: int) -> None:
    page.goto(f"/assets/{asset}?view=partitions")
    expect(page.get_by_text(f"Failed ({failed})")).to_be_visible(timeout=DONE_MS)
    expect(page.get_by_text(f"Materialized ({made})")).to_be_visible(timeout=DONE_MS)


def test_nine_of_ten_succeed_in_one_backfill_and_the_one_that_is_broken_is_shown_as_failed(
    served: Served, browser: Browser, tmp_path: Path
):
    with open_page(browser, served.ui, tmp_path) as page:
        launch(page, "All")
        see_states(page, "edges", failed=1, made=9)
        see_states(page, "graph_versions", failed=1, made=9)
        page.screenshot(path=tmp_path / "nine.png")


def backfilled_with_one_broken(lake: Served, broken: str) -> tuple[str, str]:
    """A backfill of two repositories of which one has a content that cannot be read, and its run, both ended."""
    head = lake.repos[broken].commit({"new.py": f"def new_{broken}(): ...\n"})
    with lake.repos[broken].broken(lake.repos[broken].blob_of(head, "new.py")):
        backfill = lake.api.backfill(ALL, [broken, "r9"])
        end = lake.api.backfill_end(backfill, DONE_SECONDS)
    assert end["status"] == "COMPLETED_FAILED"
    assert broken in lake.api.partitions("blobs")["failed"]
    return backfill, end["runs"][0]["id"]


def test_a_repository_that_was_broken_is_made_when_its_backfill_is_re_executed_from_failure(served: Served):
    backfill, _ = backfilled_with_one_broken(served, "r7")
    again = served.api.backfill_end(served.api.backfill_again(backfill), DONE_SECONDS)
    assert again["status"] == "COMPLETED_SUCCESS"
    assert "r7" in served.api.partitions("graph_versions")["materialized"]
    assert lakehouse_json("status", "r7")["repositories"][0]["fresh"]


def test_a_repository_that_was_broken_is_made_when_its_run_is_re_executed_from_failure(served: Served):
    _, run = backfilled_with_one_broken(served, "r8")
    assert served.api.run_end(served.api.run_again(run), DONE_SECONDS) == "SUCCESS"
    assert "r8" in served.api.partitions("graph_versions")["materialized"]
    assert lakehouse_json("status", "r8")["repositories"][0]["fresh"]
