"""The explorer on real code, flask and this project, in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import pygit2
import pytest
from playwright.sync_api import Page, expect

import lakehouse_assets
from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.cli.runs import running
from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets_tests.bench.inputs import repository
from lakehouse_assets_tests.explorer.conftest import Explored
from lakehouse_assets_tests.support.command import lakehouse
from lakehouse_assets_tests.support.explorer import serving
from lakehouse_assets_tests.support.pages import check_page
from lakehouse_assets_tests.support.repos import RepoBuilder

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explored]:
    """After it: a run that made everything, one that failed, and one in which nothing had to be made."""
    folder = tmp_path_factory.mktemp("real")
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("LAKEHOUSE_HOME", str(folder / "home"))
        environ.setenv("LAKEHOUSE_ENGINE", "local")
        environ.delenv("DAGSTER_HOME", raising=False)
        flask = repository("flask", folder)
        lakehouse("repo", "add", "flask", str(flask))
        lakehouse("repo", "add", "lakehouse_assets", str(Path(lakehouse_assets.__file__).parents[1]))
        lakehouse("sync", "--all")
        broken = RepoBuilder(folder / "broken")
        head = broken.commit({"new.py": "def new(): ...\n"})
        lakehouse("repo", "add", "broken", str(broken.path))
        with broken.broken(broken.blob_of(head, "new.py")), pytest.raises(LakehouseError):
            lakehouse("sync", "broken")
        settings = load_settings()
        with running(settings, Progress(quiet=True)) as run:
            run({"flask": str(pygit2.Repository(str(flask)).head.target)})
        with serving(settings) as served:
            yield Explored(settings=settings, commits={}, served=served)


def test_flask_is_searched_walked_and_read(explored: Explored, page: Page):
    page.goto(explored.served.url)
    page.get_by_role("combobox").press_sequentially("flask.app.Flask.wsgi_app")
    expect(page.get_by_role("option")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    for hop in ("flask.app.Flask.full_dispatch_request", "flask.app.Flask.dispatch_request"):
        page.get_by_role("link", name=hop, exact=True).first.click()
        expect(page.get_by_role("heading", level=1)).to_have_text(hop)
    page.locator("svg a").filter(has_text="Flask.ensure_sync").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("flask.app.Flask.ensure_sync")
    expect(page.locator("pre.source")).to_contain_text("iscoroutinefunction(func)")


def test_this_project_is_searched_and_whom_a_change_touches_is_told(explored: Explored, page: Page):
    page.goto(f"{explored.served.url}/?q=Lake.present")
    page.get_by_role("link", name="lakehouse_assets.lake.tables.Lake.present", exact=True).click()
    expect(page.locator("pre.source")).to_contain_text("def present(self, contract: TableContract)")
    page.get_by_role("link", name="Whom would a change touch?").click()
    page.get_by_role("link", name="lakehouse_assets.lake.tables.Lake.read", exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("lakehouse_assets.lake.tables.Lake.read")


@pytest.mark.parametrize(
    ("row", "said"),
    [(2, "19 written"), (1, "What to do"), (0, "Nothing had to be made")],
    ids=["a run that made everything", "a run that failed", "a run in which nothing had to be made"],
)
def test_stories_of_runs_are_read(explored: Explored, page: Page, row: int, said: str):
    page.goto(f"{explored.served.url}/runs")
    page.locator("tbody a").nth(row).click()
    expect(page.get_by_role("heading", name="What ran")).to_be_visible()
    expect(page.locator("main")).to_contain_text(said)


@pytest.mark.parametrize("width", [390, 1280])
def test_real_pages_fit_and_everyone_can_use_them(explored: Explored, page: Page, width: int):
    served = explored.served
    flask, own = served.find("flask.app.Flask"), served.find("lakehouse_assets.lake.tables.Lake.present")
    symbols = [f"/symbols/{each['repo']}/{each['id']}" for each in (flask, own)]
    runs = [part for part in served.get("/runs").text.split('"') if part.startswith("/runs/")]
    browser = page.context.browser
    assert browser is not None
    of_symbols = [*symbols, f"{symbols[1]}/impact", f"{symbols[0]}/history"]
    for path in ["/?q=dispatch", "/repositories/flask", *of_symbols, *runs]:
        check_page(browser, served.url + path, width)
