"""Two thousand partitions: what the command and the UI take to tell of them. All of them are made for real."""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from lakehouse_assets.core.settings import PROJECT_ROOT, load_settings
from lakehouse_assets_tests.bench.many import many_repositories
from lakehouse_assets_tests.bench.measure import LAKEHOUSE, command, heading, line, timed
from lakehouse_assets_tests.support.ui import chromium, dagster_dev, open_page

REPOSITORIES = int(os.environ.get("LAKEHOUSE_BENCH_PARTITIONS", "2000"))
_LONGEST_MS = 300_000


def partitions() -> None:
    """Seconds of `lakehouse status` and of the UI's pages of an asset, with that many repositories."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        os.environ |= {"LAKEHOUSE_HOME": str(home), "DAGSTER_HOME": str(PROJECT_ROOT)}
        listing, repos = many_repositories(
            Path(folder), REPOSITORIES, lambda number: {"a.py": f"def f{number}(): ...\n"}
        )
        command(LAKEHOUSE, "repo", "add", "--from", str(listing), home=home)
        heading(f"{REPOSITORIES} repositories of one file each")
        made = timed(lambda: command(LAKEHOUSE, "backfill", "--all", home=home, LAKEHOUSE_ENGINE="local"))
        line("backfill of all", made, note=f"{made / REPOSITORIES:.3f} s a repository")
        line("lakehouse status, all fresh", timed(lambda: _stale(home, 0), repeat=3))
        repos[0].commit({"a.py": "def moved(): ...\n"})
        line("lakehouse status, one moved on", timed(lambda: _stale(home, 1), repeat=3))
        line("lakehouse sync of that one", timed(lambda: command(LAKEHOUSE, "sync", "r0000", home=home)))
        with (
            dagster_dev(load_settings(), Path(folder) / "dagster.log") as ui,
            chromium() as browser,
            open_page(browser, ui, Path(folder)) as page,
        ):
            page.set_default_timeout(_LONGEST_MS)
            expect.set_options(timeout=_LONGEST_MS)
            for label, look in _PAGES.items():
                line(f"UI: {label}, first time", _seconds(page, look))
                line(f"UI: {label}, again", _seconds(page, look))


def _see_partitions(page: Page) -> None:
    page.goto("/assets/edges?view=partitions")
    expect(page.get_by_text(f"Materialized ({REPOSITORIES})")).to_be_visible()


def _see_partition(page: Page) -> None:
    page.goto("/assets/edges?view=partitions&partition=r0007")
    expect(page.get_by_text("rows_inserted", exact=True).first).to_be_visible()


def _see_asset(page: Page) -> None:
    page.goto("/assets/edges?view=overview")
    expect(page.get_by_text("Latest materialization")).to_be_visible()
    expect(page.get_by_text("rows_inserted", exact=True).first).to_be_visible()


def _see_lineage(page: Page) -> None:
    page.goto("/locations/lakehouse_assets/asset-groups/git")
    expect(page.get_by_text("100% filled").first).to_be_visible()


_PAGES: dict[str, Callable[[Page], None]] = {
    "asset": _see_asset,
    "its partitions": _see_partitions,
    "one partition": _see_partition,
    "lineage of a group": _see_lineage,
}


def _seconds(page: Page, look: Callable[[Page], None]) -> float:
    started = time.perf_counter()
    look(page)
    return time.perf_counter() - started


def _stale(home: Path, wanted: int) -> None:
    env = os.environ | {"LAKEHOUSE_HOME": str(home)}
    done = subprocess.run([LAKEHOUSE, "status", "--json"], env=env, capture_output=True, text=True, check=True)
    told = [each for each in json.loads(done.stdout)["repositories"] if not each["fresh"]]
    if len(told) != wanted:
        raise RuntimeError(f"{len(told)} repositories are stale, not {wanted}: {told[:2]}")
