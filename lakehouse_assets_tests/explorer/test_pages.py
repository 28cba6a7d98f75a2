"""The explorer and stories in a real browser: search, walk, read; and whether everyone can use them."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from lakehouse_assets.stories.story_page import story_page
from lakehouse_assets_tests.explorer.conftest import Explored
from lakehouse_assets_tests.support.pages import check_page
from lakehouse_assets_tests.support.stories import hostile_story


def test_search_as_one_types_then_walk_three_hops_and_read_source(explored: Explored, page: Page):
    page.goto(explored.served.url)
    page.get_by_role("combobox").press_sequentially("Cart.pri")
    expect(page.get_by_role("option")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("shop.cart.Cart.priced")
    expect(page.locator("pre.source")).to_contain_text("return count")
    for hop in ("shop.cart.Cart.total", "shop.main.run", "web.view.show"):
        title = ".".join(hop.split(".")[-2:])
        page.locator("svg a").filter(has_text=title).first.click()
        expect(page.get_by_role("heading", level=1)).to_have_text(hop)
    expect(page.locator("pre.source .kw").first).to_have_text("def")
    page.get_by_role("link", name="Whom would a change touch?").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Whom a change to web.view.show touches")


def test_from_whom_a_change_touches_one_goes_on_to_it(explored: Explored, page: Page):
    priced = explored.served.find("shop.cart.Cart.priced")
    page.goto(f"{explored.served.url}/symbols/shop/{priced['id']}/impact")
    page.get_by_role("link", name="shop.main.run", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("shop.main.run")


def test_what_was_typed_is_text(explored: Explored, page: Page):
    page.goto(explored.served.url)
    page.get_by_role("combobox").press_sequentially("<img src=x")
    expect(page.get_by_role("option").first).to_contain_text("<img src=x onerror=alert(1)>")
    expect(page.locator("img")).to_have_count(0)


def test_a_run_s_story_is_read_from_the_list_of_runs(explored: Explored, page: Page):
    page.goto(f"{explored.served.url}/runs")
    page.get_by_role("link").filter(has_text=page.locator("tbody a").first.inner_text()).click()
    expect(page.get_by_role("heading", name="What ran")).to_be_visible()
    page.get_by_role("link", name="snapshots, written").click()
    expect(page.locator("#asset-snapshots")).to_be_in_viewport()


def test_what_a_commit_changed_leads_to_the_definition_and_its_edges(explored: Explored, page: Page):
    page.goto(f"{explored.served.url}/repositories/shop")
    page.get_by_role("link", name="What changed?").first.click()
    expect(page.locator("tbody").first).to_contain_text("shop/main.py")
    page.get_by_role("link", name="Which edges came and went?").click()
    expect(page.locator("tbody tr").filter(has_text="shop.cart.Cart").filter(has_text="CALL")).to_contain_text("added")
    page.get_by_role("link", name="What changed?").click()
    page.get_by_role("link", name="main", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("shop.main.main")


def test_a_definition_is_seen_as_it_was_and_an_edge_leads_to_its_line(explored: Explored, page: Page):
    first, _ = explored.commits["shop"]
    main = explored.served.find("shop.main.main")
    page.goto(f"{explored.served.url}/symbols/shop/{main['id']}")
    page.get_by_role("link", name=first[:12]).click()
    expect(page.locator("pre.source")).to_contain_text("return run()")
    page.get_by_role("link", name="shop/main.py:9").first.click()
    expect(page.locator(".line:target")).to_contain_text("return run()")
    page.get_by_role("link", name="the last commit").click()
    expect(page.locator("pre.source")).to_contain_text("return Cart()")


def test_on_a_phone_a_picture_stands_upright_and_can_be_walked(explored: Explored, browser: Browser):
    page = browser.new_page(viewport={"width": 390, "height": 800})
    priced = explored.served.find("shop.cart.Cart.priced")
    page.goto(f"{explored.served.url}/symbols/shop/{priced['id']}")
    box = page.locator("svg:visible").first.bounding_box()
    assert box is not None
    assert box["width"] <= 366
    page.get_by_role("link", name="Cart.total, calls it, certain").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("shop.cart.Cart.total")
    page.close()


def addresses(explored: Explored, folder: Path) -> list[str]:
    """Every kind of page."""
    served = explored.served
    symbol = served.find("shop.cart.Cart")
    here = f"{served.url}/symbols/shop/{symbol['id']}"
    run = next(part for part in served.get("/runs").text.split('"') if part.startswith("/runs/"))
    failed = folder / "failed.html"
    failed.write_text(story_page(hostile_story()))
    of_commits = [f"/repositories/shop/{name}" for name in ("diff", "edges", "impact")]
    paths = ["/", "/?q=cart", "/repositories/shop", *of_commits, "/runs", "/api", "/nothing", run]
    more = [here, f"{here}/related/callers", f"{here}/impact", f"{here}/history", failed.as_uri()]
    return [*(served.url + path for path in paths), *more]


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.slow)])
def test_pages_fit_and_everyone_can_use_them_in_light_and_dark(
    explored: Explored, browser: Browser, tmp_path: Path, width: int
):
    for address in addresses(explored, tmp_path):
        check_page(browser, address, width)
