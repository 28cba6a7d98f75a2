"""The page of a story: what it says, and that it stands alone."""

import json
import re

import pytest

from lakehouse_assets.core.text import visible
from lakehouse_assets.stories.drawing import layers
from lakehouse_assets.stories.records import AssetStory, Story, as_json
from lakehouse_assets.stories.story_page import story_page
from lakehouse_assets_tests.stories.test_html import read
from lakehouse_assets_tests.support.stories import HOSTILE, hostile_story, run, step, write


@pytest.fixture(scope="module")
def shown() -> str:
    return story_page(hostile_story())


def test_hostile_text_is_shown_as_text_wherever_it_comes_from(shown: str):
    seen = read(shown)
    assert "script" not in seen.elements
    assert seen.text.count(visible(HOSTILE)) >= 8
    assert "\u202e" not in shown
    assert "\x1b" not in shown


def test_a_page_asks_the_network_for_nothing_and_obeys_no_other_style(shown: str):
    seen = read(shown)
    policies = [value or "" for name, value in seen.attributes if name == "content"]
    assert not [value for name, value in seen.attributes if name in ("src", "srcset", "action", "style", "onclick")]
    links = [value or "" for name, value in seen.attributes if name == "href"]
    assert all(link.startswith("#") or link == "data:," for link in links)
    assert any("default-src 'none'; style-src 'sha256-" in policy for policy in policies)


def test_a_failed_run_tells_the_error_with_its_remedy_first(shown: str):
    text = read(shown).text
    assert text.index("What to do: mend it") < text.index("What ran")
    assert "Why it matters: rows would be lost" in text


def test_a_write_tells_rows_files_versions_and_what_changed_in_its_key(shown: str):
    text = read(shown).text
    assert "3 → 4" in text
    assert "7 of 8 pruned" in text
    assert "Key of shop: 1 part changed" in text
    assert re.search(r"1 of 4 \(25.0 %\)\s*2 of 8 \(25.0 %\)", text)
    assert "- FROM old" in text
    assert "Plan files: changed" in text


def test_a_run_in_which_nothing_had_to_be_made_says_so():
    asset = AssetStory(name="blobs", description="", step="blobs", outcome="untouched", why="It is fresh.")
    told = Story(run=run(step("blobs"), untouched={"blobs": 1}), assets=(asset,))
    assert "Nothing had to be made" in read(story_page(told)).text


def test_every_link_of_the_picture_leads_to_a_section(shown: str):
    seen = read(shown)
    ids = {value for name, value in seen.attributes if name == "id"}
    links = {value for name, value in seen.attributes if name == "href" and (value or "").startswith("#asset")}
    assert links == {"#asset-snapshots", "#asset-blobs"}
    assert {(link or "")[1:] for link in links} <= ids


def test_a_story_is_json():
    told = json.loads(json.dumps(as_json(hostile_story())))
    assert told["run"]["status"] == "failed"
    assert told["assets"][0]["writes"][0]["samples"]["added"] == [[HOSTILE, None]]


def test_columns_of_a_picture_follow_what_comes_after_what_and_circles_end():
    assert layers({"a": [], "b": ["a"], "c": ["a", "b"]}) == {"a": 0, "b": 1, "c": 2}
    assert set(layers({"a": ["b"], "b": ["a"]})) == {"a", "b"}


def test_seconds_by_phase_are_listed():
    asset = AssetStory(name="blobs", description="", step="blobs", outcome="equal", why="", writes=(write(),))
    assert "0.250" in story_page(Story(run=run(step("blobs")), assets=(asset,)))
