"""What a vacuum may remove, decided from the log, the disk and who holds what."""

from typing import Any

from lakehouse_assets.plan.holds import Hold
from lakehouse_assets.plan.vacuum import DiskFile, FeedFile, LoggedFile, TableLog, VacuumPlan, plan_vacuum

NOW = 1_000_000


def logged(path: str, added: int, removed: int | None = None, *, partition: str = "a", at: int = 0) -> LoggedFile:
    return LoggedFile(path=path, partition=partition, added=added, removed=removed, removed_at=at)


def hold(by: str = "somebody", **more: Any) -> Hold:
    return Hold(table="t", by=by, why="because", **more)


def planned(
    files: list[LoggedFile],
    *holds: Hold,
    feed: tuple[FeedFile, ...] = (),
    disk: tuple[str, ...] = (),
    entries: dict[int, int] | None = None,
    checkpoints: tuple[int, ...] = (),
    written_at: int = 0,
) -> VacuumPlan:
    """version 0 ── 1 ── 2 ── … ── 9 (present)"""
    paths = {file.path for file in files} | {file.path for file in feed} | set(disk)
    return plan_vacuum(
        TableLog(
            table="t",
            oldest=0,
            version=9,
            files=tuple(files),
            feed=feed,
            entries=entries or {},
            checkpoints=checkpoints,
        ),
        {path: DiskFile(size=10, changed_at=written_at) for path in paths},
        holds,
        before=NOW,
        log_before=NOW,
    )


def test_what_is_present_stays_and_what_left_long_ago_goes():
    plan = planned([logged("old", 0, 3), logged("new", 3)])
    assert (plan.remove, plan.bytes, plan.held) == (("old",), 10, ())


def test_a_version_holds_the_files_it_has_and_no_others():
    files = [logged("before", 0, 3), logged("at", 2, 5), logged("after", 4, 6), logged("new", 6)]
    plan = planned(files, hold(version=3))
    assert plan.remove == ("after", "before")
    assert [(each.by, each.files, each.bytes) for each in plan.held] == [("somebody", 1, 10)]


def test_the_version_that_removed_a_file_does_not_hold_it_and_the_one_that_added_it_does():
    assert planned([logged("f", 2, 5)], hold(version=5)).remove == ("f",)
    assert planned([logged("f", 2, 5)], hold(version=4)).remove == ()
    assert planned([logged("f", 2, 5)], hold(version=2)).remove == ()
    assert planned([logged("f", 2, 5)], hold(version=1)).remove == ("f",)


def test_a_hold_on_one_partition_leaves_the_others_free():
    files = [logged("a", 0, 3), logged("b", 0, 3, partition="b")]
    assert planned(files, hold(version=1, partition="a")).remove == ("b",)
    assert planned(files, hold(version=1)).remove == ()


def test_a_file_whose_partition_is_not_told_is_held_by_whoever_holds_anything_there():
    unknown = LoggedFile(path="f", partition=None, added=0, removed=3)
    assert planned([unknown], hold(version=1, partition="a")).remove == ()


def test_a_cursor_holds_the_feed_behind_it():
    feed = tuple(FeedFile(path=f"c{n}", partition="a", version=n, at=0) for n in (3, 4, 5))
    plan = planned([], hold(feed_from=4), feed=feed)
    assert plan.remove == ("c3",)


def test_what_is_young_stays_whoever_left_it():
    young = [logged("left", 0, 3, at=NOW), logged("long gone", 0, 3, at=NOW - 1)]
    plan = planned(young, disk=("orphan",))
    assert (plan.remove, plan.young) == (("long gone", "orphan"), 1)
    assert planned([], disk=("being written",), written_at=NOW).remove == ()


def test_single_files_can_be_held():
    plan = planned([logged("x", 0, 1), logged("y", 0, 1)], hold("clone c", files=("x",)))
    assert (plan.remove, plan.held[0].by) == (("y",), "clone c")


def test_every_holder_of_a_file_is_named():
    plan = planned([logged("f", 0, 4)], hold("one", version=1), hold("two", version=2, partition="a"))
    assert [each.by for each in plan.held] == ["one", "two"]
    assert "held by one: because" in str(plan)


def test_the_log_goes_up_to_the_last_checkpoint_that_no_hold_needs_more_of():
    entries = dict.fromkeys(range(10), 0)
    free = planned([], entries=entries, checkpoints=(2, 5, 8))
    assert (free.keep_log_from, free.log_entries, free.log_held_by) == (8, 8, None)
    held = planned([], hold("pin", version=6), entries=entries, checkpoints=(2, 5, 8))
    assert (held.keep_log_from, held.log_entries, held.log_held_by) == (5, 5, "pin")
    assert planned([], hold(feed_from=1), entries=entries, checkpoints=(2, 5, 8)).log_entries == 0
    assert planned([], entries=entries).log_entries == 0


def test_young_log_entries_stay():
    entries = dict.fromkeys(range(10), 0) | {4: NOW}
    plan = planned([], entries=entries, checkpoints=(2, 5, 8))
    assert (plan.keep_log_from, plan.log_held_by) == (2, None)
