"""What a repository holds is shown as text, and only this machine's own pages may ask."""

import pytest

from lakehouse_assets_tests.explorer.conftest import Explored
from lakehouse_assets_tests.stories.test_html import read
from lakehouse_assets_tests.support.command import lakehouse
from lakehouse_assets_tests.support.explored import HARM, RIGHT_TO_LEFT

HARMFUL = ("attack", "long", "quoted", "turned")


def pages(explored: Explored) -> dict[str, str]:
    served = explored.served
    found = {name: served.ask("/search", q=name, repo="harm")["items"][0] for name in HARMFUL}
    paths = ["/", "/?q=%3Cscript%3E", "/repositories/harm", "/runs", "/symbols/harm/%3Cscript%3E"]
    for symbol in found.values():
        here = f"/symbols/harm/{symbol['id']}"
        paths += [here, f"{here}/impact", f"{here}/history", f"{here}/related/callers"]
    return {path: served.get(path).text for path in paths}


def test_hostile_names_and_source_are_text_on_every_page(explored: Explored):
    shown = pages(explored)
    for path, page in shown.items():
        seen = read(page)
        assert "img" not in seen.elements, path
        assert [value for name, value in seen.attributes if name.startswith("on") or name == "style"] == [], path
        assert RIGHT_TO_LEFT not in page
        assert "\x1b" not in page
        scripts = [value for name, value in seen.attributes if name == "src"]
        assert scripts == ["/static/explorer.js"], path
    whole = "".join(read(page).text for page in shown.values())
    assert HARM in whole
    assert "1,000,0" in whole  # the line of a million characters is cut, and says so
    assert max(len(page) for page in shown.values()) < 400_000


def test_a_story_of_hostile_rows_is_text(explored: Explored):
    run = next(part for part in explored.served.get("/runs").text.split('"') if part.startswith("/runs/"))
    story = explored.served.get(run)
    assert "script-src" not in story.headers["content-security-policy"]
    seen = read(story.text)
    assert not {"img", "script"} & set(seen.elements)


def test_the_command_shows_hostile_names_escaped(explored: Explored):
    told = lakehouse("definitions", "turned").stdout
    assert "\\u202e" in told
    assert RIGHT_TO_LEFT not in told


@pytest.mark.parametrize("path", ["/", "/api/repositories", "/static/explorer.js", "/nothing"])
def test_every_answer_says_that_nothing_else_may_run_frame_or_guess(explored: Explored, path: str):
    headers = explored.served.get(path).headers
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


def test_requests_for_other_hosts_are_refused(explored: Explored):
    assert explored.served.get("/api/repositories", Host="attacker.example").status == 400


@pytest.mark.parametrize("path", ["/static/../../../etc/passwd", "/static/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc"])
def test_no_path_leads_out(explored: Explored, path: str):
    assert explored.served.get(path).status == 404
