"""The Dagster UI in a real browser: what a user sees, and a partition materialized by clicks."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from lakehouse_assets_tests.support.served import Repos, Served, served_lake
from lakehouse_assets_tests.support.ui import open_page

pytestmark = pytest.mark.begins

ASSETS = ("commits", "snapshots", "blobs")
STEPS = (
    *ASSETS,
    *(
        "extracts",
        "offered_modules",
        "linking",
        "definitions",
        "nodes",
        "edges",
        "props",
        "global_props",
        "graph_versions",
    ),
    *("file_changes", "diffs", "lifetimes", "contracts", "integrity", "heads"),
)
GIT_GROUP = "/locations/lakehouse_assets/asset-groups/git"
GRAPH_GROUP = "/locations/lakehouse_assets/asset-groups/graph"
WIDE: ViewportSize = {"width": 6000, "height": 7200}
"""Boxes of the lineage that are out of sight are not drawn."""
RUN_MS = 180_000
"""A run starts a JVM: half a minute on an idle machine, several times that on a busy one."""

EDGES = """
() => {
  const nodes = [...document.querySelectorAll("foreignObject")].map((node) => ({
    name: node.querySelector("[data-tooltip]")?.dataset.tooltip,
    left: node.x.baseVal.value,
    right: node.x.baseVal.value + node.width.baseVal.value,
    top: node.y.baseVal.value,
    bottom: node.y.baseVal.value + node.height.baseVal.value,
  }));
  const at = (side, { x, y }) =>
    nodes.find((node) => Math.abs(node[side] - x) < 10 && node.top < y && y < node.bottom)?.name;
  return [...document.querySelectorAll("path[marker-end]")].map((path) => [
    at("right", path.getPointAtLength(0)),
    at("left", path.getPointAtLength(path.getTotalLength())),
  ]);
}
"""
"""The arrows of the lineage as pairs of the assets whose boxes they touch."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Two repositories that were never synced."""

    def go_on(repos: Repos) -> None:
        repos["one"].commit({"c.md": "# C\n"})

    files = {"one": {"a.py": "x = 1\n", "b.py": "y = 2\n"}, "two": {"d.py": "z = 3\n"}}
    with served_lake(tmp_path_factory.mktemp("ui"), files, go_on) as served:
        yield served


def see(page: Page, text: str, *, times: int = 1) -> None:
    expect(page.get_by_text(text, exact=True).filter(visible=True)).to_have_count(times)


def test_the_lineage_draws_the_assets_and_the_arrows_between_them(served: Served, browser: Browser, tmp_path: Path):
    with open_page(browser, served.ui, tmp_path) as page:
        page.set_viewport_size(WIDE)
        page.goto(GIT_GROUP)
        for asset in ASSETS:
            expect(page.locator("foreignObject").filter(has_text=asset)).to_contain_text("2 partitions")
        edges = {tuple(edge) for edge in page.evaluate(EDGES)}
        assert edges >= {("commits", "snapshots"), ("snapshots", "blobs")}
        page.goto(GRAPH_GROUP)
        expect(page.locator("foreignObject").filter(has_text="graph_versions")).to_contain_text("2 partitions")
        edges = {tuple(edge) for edge in page.evaluate(EDGES)}
        assert edges >= {("extracts", "links"), ("links", "edges"), ("extracts", "nodes"), ("edges", "graph_versions")}


def test_the_sensor_and_the_schedule_are_listed_and_off(served: Served, browser: Browser, tmp_path: Path):
    with open_page(browser, served.ui, tmp_path) as page:
        page.goto("/automation")
        for name in ("new_heads", "hourly_sync"):
            row = page.locator("[data-index]").filter(has=page.get_by_role("link", name=name))
            expect(row.get_by_role("checkbox")).to_have_count(2)  # to select the row, and to turn it on
            expect(row.get_by_role("checkbox", checked=True)).to_have_count(0)


def test_one_partition_is_materialized_by_clicks_and_tells_what_it_wrote_while_the_other_stays_missing(
    served: Served, browser: Browser, tmp_path: Path
):
    with open_page(browser, served.ui, tmp_path) as page:
        page.goto("/assets/commits?view=partitions")
        see(page, "Missing (2)")
        expect(page.get_by_title("one", exact=True)).to_be_visible()
        expect(page.get_by_title("two", exact=True)).to_be_visible()

        page.goto("/locations/lakehouse_assets/jobs/sync")
        page.get_by_role("button", name="Materialize all").click()
        page.get_by_text("Select a partition or create one").click()
        page.get_by_role("menuitem").filter(has=page.get_by_title("one", exact=True)).click()
        page.get_by_text("Partition selection").click()  # closes the list
        page.get_by_role("button", name="Launch 1 run").click()
        page.get_by_text("View", exact=True).click()

        ended = page.get_by_text(re.compile("^(Success|Failure|Canceled)$"))
        expect(ended).to_be_visible(timeout=RUN_MS)
        expect(ended).to_have_text("Success")
        see(page, "partition: one")
        succeeded = page.locator("[aria-controls]").filter(has_text=f"Succeeded ({len(STEPS)})")
        succeeded.click()
        steps = page.locator(f"[id='{succeeded.get_attribute('aria-controls')}']")
        for step in STEPS:
            expect(steps.get_by_text(step, exact=True)).to_have_count(1)

        page.goto("/assets/snapshots?view=partitions&partition=one")
        see(page, "Materialized")
        written = page.get_by_role("row").filter(has=page.get_by_text("rows_inserted", exact=True))
        expect(written.get_by_role("cell").nth(1)).to_have_text("3")
        expect(page.get_by_role("cell", name=served.head("one"), exact=True)).to_be_visible()

        page.goto("/assets/snapshots?view=partitions&partition=two")
        see(page, "Missing (1)")
        see(page, "No metadata entries")

        page.set_viewport_size(WIDE)
        page.goto(GIT_GROUP)
        see(page, "50% filled", times=len(ASSETS))
