"""One browser for the tests of a module."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from lakehouse_assets_tests.support.served import Served
from lakehouse_assets_tests.support.ui import chromium


@pytest.fixture(scope="module")
def browser(served: Served) -> Iterator[Browser]:
    """Opened after the lake is made, since no other event loop can run in this thread meanwhile."""
    with chromium() as browser:
        yield browser
