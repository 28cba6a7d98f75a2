"""When an asset that follows from others is fresh, and how much of it is made anew."""

from dataclasses import replace

from lakehouse_assets.plan.cursors import Cursor, Position
from lakehouse_assets.plan.derivation import Derivation, Task, task_for, wanted_key

NODES = Derivation(asset="nodes", inputs=("snapshots", "links"), code_version="c1", policy_hash="p1")
VERSIONS: dict[str, str | None] = {"snapshots": "1-a", "links": "2-b"}


def cursor(table: str, end: int) -> Cursor:
    return Cursor(table=table, table_id="t", start=0, end=end, schema="s", last_commit="l", policy="any:1")


CURSORS = {"snapshots": cursor("snapshots", 3), "links": cursor("links", 5)}
STORED = replace(wanted_key(NODES, "shop", VERSIONS), cursor=Position(commit="abc", cursors=CURSORS).text)


def test_equal_inputs_and_code_are_fresh_whatever_was_written_in_between():
    assert task_for(wanted_key(NODES, "shop", VERSIONS), STORED) is None


def test_a_changed_input_is_read_on_from_its_cursor():
    task = task_for(wanted_key(NODES, "shop", {**VERSIONS, "links": "3-c"}), STORED)
    assert task is not None
    assert task.since == CURSORS
    assert [(reason.part, "3-c" in reason.new) for reason in task.reasons] == [("input_versions", True)]


def test_changed_code_makes_the_whole_partition():
    task = task_for(wanted_key(replace(NODES, code_version="c2"), "shop", VERSIONS), STORED)
    assert task is not None
    assert (task.since, [reason.part for reason in task.reasons]) == (None, ["code_version"])


def test_what_was_never_made_or_was_removed_is_made_as_a_whole():
    wanted = wanted_key(NODES, "shop", VERSIONS)
    for stored in (None, replace(STORED, cursor="")):
        task = task_for(wanted, stored)
        assert isinstance(task, Task)
        assert (task.since, task.reasons[0].part) == (None, "never materialized")


def test_the_order_of_inputs_does_not_count():
    other = replace(NODES, inputs=("links", "snapshots"))
    assert wanted_key(other, "shop", VERSIONS) == wanted_key(NODES, "shop", VERSIONS)
