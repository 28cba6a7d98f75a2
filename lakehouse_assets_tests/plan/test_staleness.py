"""Why is this stale? Because of these parts of the key, with old and new values."""

from dataclasses import replace

from lakehouse_assets.plan.staleness import MaterializationKey, stale_because

KEY = MaterializationKey(asset="commits", partition="flask", cursor="c1", code_version="v1", settings_hash="s1")


def test_an_equal_key_is_fresh():
    assert stale_because(KEY, KEY) == []


def test_what_was_never_made_is_stale_for_that_reason_alone():
    (reason,) = stale_because(KEY, None)
    assert (reason.part, reason.old) == ("never materialized", None)


def test_each_differing_part_is_a_reason_with_its_old_and_new_value():
    stored = replace(KEY, cursor="c0", settings_hash="s0")
    assert [(r.part, r.old, r.new) for r in stale_because(KEY, stored)] == [
        ("settings_hash", "s0", "s1"),
        ("cursor", "c0", "c1"),
    ]


def test_of_several_inputs_those_that_differ_are_told():
    old = replace(KEY, input_versions='{"links":"l1","snapshots":"s1"}')
    (reason,) = stale_because(replace(KEY, input_versions='{"links":"l1","snapshots":"s2"}'), old)
    assert (reason.part, *reason.differing) == ("input_versions", "snapshots s1", "snapshots s2")
    (reason,) = stale_because(replace(KEY, code_version="v2"), KEY)
    assert reason.differing == ("v1", "v2")
    (reason,) = stale_because(KEY, None)
    assert reason.differing == ("", "c1")
