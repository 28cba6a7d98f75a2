"""A backfill in a real browser, on the real `dagster dev` with its daemon."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from lakehouse_assets.core.settings import PROJECT_ROOT, load_settings
from lakehouse_assets_tests.support.command import lakehouse
from lakehouse_assets_tests.support.repos import RepoBuilder, git
from lakehouse_assets_tests.support.ui import DagsterUI, chromium, dagster_dev, open_page

pytestmark = pytest.mark.slow

NAMES = [f"r{number}" for number in range(10)]
BROKEN = "r5"
DONE_MS = 300_000
"""A backfill waits for the daemon's tick and starts a process."""


class Lake:
    """The served UI of ten repositories of which one has a corrupt object."""

    def __init__(self, ui: DagsterUI, repos: dict[str, RepoBuilder]) -> None:
        self.ui = ui
        self.repos = repos


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    folder = tmp_path_factory.mktemp("backfills")
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("LAKEHOUSE_HOME", str(folder / "home"))
        environ.setenv("DAGSTER_HOME", str(PROJECT_ROOT))
        environ.setenv("LAKEHOUSE_EXECUTOR", "delta-rs")
        repos = {name: RepoBuilder(folder / name) for name in NAMES}
        for name, repo in repos.items():
            repo.commit({"same.py": "def f(): ...\n", f"{name}.py": f"def {name}(): ...\n"})
            lakehouse("repo", "add", name, str(repo.path))
        repos[BROKEN].corrupt(git(repos[BROKEN].path, "rev-parse", f"HEAD:{BROKEN}.py").decode().strip())
        with dagster_dev(load_settings(), folder / "dagster.log") as ui:
            yield Lake(ui, repos)


@pytest.fixture(scope="module")
def browser(served: Lake) -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


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
    served: Lake, browser: Browser, tmp_path: Path
):
    with open_page(browser, served.ui, tmp_path) as page:
        launch(page, "All")
        see_states(page, "edges", failed=1, made=9)
        see_states(page, "graph_versions", failed=1, made=9)
        page.screenshot(path=tmp_path / "nine.png")
