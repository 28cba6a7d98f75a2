"""One lake, explored by all tests of the room."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page

from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets_tests.support.explored import make_lake
from lakehouse_assets_tests.support.explorer import Served, serving
from lakehouse_assets_tests.support.ui import chromium


@dataclass(frozen=True, kw_only=True)
class Explored:
    settings: Settings
    commits: dict[str, list[str]]
    served: Served


@pytest.fixture(scope="package")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explored]:
    folder = tmp_path_factory.mktemp("explored")
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("LAKEHOUSE_HOME", str(folder / "home"))
        environ.setenv("LAKEHOUSE_ENGINE", "local")
        environ.delenv("DAGSTER_HOME", raising=False)
        commits = make_lake(folder)
        settings = load_settings()
        with serving(settings) as served:
            yield Explored(settings=settings, commits=commits, served=served)


@pytest.fixture(scope="module")
def browser(explored: Explored) -> Iterator[Browser]:
    """Opened after the lake is made, since no other event loop can run in this thread meanwhile."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails the test if it logs an error or lets a script of a repository run."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(f"dialog {dialog.message}"))
    page.set_default_timeout(20_000)
    yield page
    page.close()
    assert said == []
