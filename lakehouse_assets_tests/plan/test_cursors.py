"""Which way changes are read is decided by the log alone."""

from dataclasses import replace

import pytest

from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.plan.cursors import (
    ANY_CHANGE,
    CommitFacts,
    Cursor,
    FilterPolicy,
    Position,
    TableState,
    fall_back,
    plan_reading,
    policy_text,
    read_position,
)

CURSOR = Cursor(table="t", table_id="id", start=0, end=3, schema="s", last_commit="c2", policy=policy_text(ANY_CHANGE))
STATE = TableState(
    table="t",
    table_id="id",
    version=4,
    schema="s",
    feed=True,
    last_commit="c4",
    commit_at_cursor="c2",
    commits=(CommitFacts(version=3), CommitFacts(version=4, touches=True)),
)


def with_commit(**facts) -> TableState:
    return replace(STATE, commits=(CommitFacts(version=3, **facts), STATE.commits[1]))


def test_the_next_range_begins_where_the_last_one_ended():
    plan = plan_reading(CURSOR, STATE, ANY_CHANGE)
    assert (plan.way, plan.reason) == ("feed", None)
    assert (plan.cursor.start, plan.cursor.end) == (3, 5)
    assert plan.cursor.last_commit == "c4"
    assert str(plan) == "t: versions 3 to before 5 by feed"


def test_commits_that_touch_other_partitions_only_are_not_read():
    state = replace(STATE, commits=(CommitFacts(version=3), CommitFacts(version=4)))
    plan = plan_reading(CURSOR, state, ANY_CHANGE)
    assert (plan.way, plan.reason, plan.cursor.end) == ("nothing", None, 5)


@pytest.mark.parametrize(
    ("state", "way", "reason"),
    [
        (replace(STATE, table_id="other"), "full", "made_anew"),
        (replace(STATE, version=1, commits=()), "full", "rewound"),
        (replace(STATE, commit_at_cursor="other"), "full", "rewritten"),
        (replace(STATE, feed=False), "comparison", "feed_off"),
        (replace(STATE, commits=STATE.commits[1:], commits_gone=True), "comparison", "log_expired"),
        (with_commit(operation="RESTORE"), "comparison", "restored"),
        (with_commit(operation="WRITE", replaces_all=True), "comparison", "overwritten"),
        (with_commit(sets_columns="other"), "comparison", "schema_changed"),
        (with_commit(feed=False), "comparison", "feed_off"),
    ],
)
def test_a_range_that_the_feed_cannot_answer_for_is_read_otherwise(state: TableState, way: str, reason: str):
    plan = plan_reading(CURSOR, state, ANY_CHANGE)
    assert (plan.way, plan.reason) == (way, reason)
    assert str(plan).endswith(f"({reason})")


def test_a_mark_that_is_gone_from_the_log_is_no_proof_of_another_log():
    assert plan_reading(CURSOR, replace(STATE, commit_at_cursor=None), ANY_CHANGE).way == "feed"


def test_the_first_reading_and_one_with_another_policy_take_everything():
    assert plan_reading(None, STATE, ANY_CHANGE).reason == "first_read"
    plan = plan_reading(CURSOR, STATE, FilterPolicy(name="names", columns=("name",)))
    assert (plan.way, plan.reason, plan.cursor.start) == ("full", "policy_changed", 0)


def test_a_policy_is_what_it_lets_through_whatever_its_name_and_order():
    one = FilterPolicy(name="one", change_types=("insert", "delete"), columns=("a", "b"))
    assert (
        one.fingerprint == FilterPolicy(name="two", change_types=("delete", "insert"), columns=("b", "a")).fingerprint
    )
    assert one.fingerprint != replace(one, columns=("a",)).fingerprint
    assert one.fingerprint != replace(one, columns=None).fingerprint
    assert one.fingerprint != replace(one, change_types=("insert",)).fingerprint


def test_a_comparison_that_fails_ends_in_a_full_reading():
    plan = fall_back(plan_reading(CURSOR, STATE, ANY_CHANGE), "vacuumed")
    assert (plan.way, plan.reason) == ("comparison", "vacuumed")
    assert fall_back(plan, "vacuumed").way == "full"


def test_a_position_is_kept_as_text_and_read_again():
    position = Position(commit="abc", cursors={"t": CURSOR})
    assert read_position(position.text) == position
    assert read_position("") is None


@pytest.mark.parametrize("text", ["abc", "{}", '{"commit": "a", "cursors": {"t": {"table": "t"}}}'])
def test_a_text_that_is_no_position_is_refused(text: str):
    with pytest.raises(LakeStateError, match="not a position"):
        read_position(text)


def test_a_range_never_ends_before_it_starts():
    with pytest.raises(ValueError, match="no range"):
        replace(CURSOR, start=4)
