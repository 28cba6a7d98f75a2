"""When a sensor asks, told look by look."""

from hypothesis import given
from hypothesis import strategies as st

from lakehouse_assets.plan.asking import (
    FIRST_PAUSE_SECONDS,
    LONGEST_PAUSE_SECONDS,
    Watch,
    asked_again,
    is_due,
    read_watch,
    rotated,
    state_of,
)
from lakehouse_assets.plan.staleness import Staleness


def test_a_state_is_asked_for_once_and_then_with_growing_pauses():
    asked = asked_again(None, "s", 0.0)
    assert not is_due(asked, "s", FIRST_PAUSE_SECONDS - 1)
    assert is_due(asked, "s", FIRST_PAUSE_SECONDS)
    again = asked_again(asked, "s", FIRST_PAUSE_SECONDS)
    assert not is_due(again, "s", 2.9 * FIRST_PAUSE_SECONDS)
    assert is_due(again, "s", 3 * FIRST_PAUSE_SECONDS)


def test_the_pause_has_an_end():
    asked = asked_again(None, "s", 0.0)
    for _ in range(50):
        asked = asked_again(asked, "s", 0.0)
    assert is_due(asked, "s", LONGEST_PAUSE_SECONDS)


def test_another_state_is_asked_for_at_once_and_begins_anew():
    asked = asked_again(asked_again(None, "s", 0.0), "s", 1.0)
    assert is_due(asked, "t", 1.0)
    assert asked_again(asked, "t", 1.0).times == 1


def test_a_state_is_the_head_and_every_part_of_a_key_that_differs():
    def stale(part, new: str) -> Staleness:
        return Staleness(asset="edges", partition="r", part=part, old=None, new=new)

    code, policy = stale("code_version", "1"), stale("policy_hash", "2")
    assert state_of("head", [code, policy]) == state_of("head", [policy, code])
    states = {state_of("head", [code]), state_of("next", [code]), state_of("head", [stale("code_version", "3")])}
    assert len(states) == 3


@given(st.dictionaries(st.text(max_size=5), st.floats(0, 1e9), max_size=5), st.text(max_size=5))
def test_what_was_asked_for_survives_being_stored(times: dict[str, float], after: str):
    watch = Watch(asked={name: asked_again(None, name, at) for name, at in times.items()}, after=after)
    assert read_watch(watch.text) == watch


def test_a_look_begins_behind_the_one_that_was_looked_at_last():
    assert rotated("dbca", "b") == ["c", "d", "a", "b"]
    assert rotated("ba", "") == ["a", "b"]
