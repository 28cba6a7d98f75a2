"""What holds for every page, whoever looks at it and on what."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser


def check_page(browser: Browser, address: str, width: int) -> None:
    """It fits the width, and everyone can use it: in the dark on a narrow screen, in light on a wide one."""
    context = browser.new_context(
        viewport={"width": width, "height": 800},
        color_scheme="dark" if width < 500 else "light",
        bypass_csp=True,  # for the checker's own script
    )
    page = context.new_page()
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{address} scrolls sideways"
    found = Axe().run(page)
    assert found.violations_count == 0, f"{address}: {found.generate_report()}"
    context.close()
