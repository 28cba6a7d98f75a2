"""Vacuum: what is held reads as it did, what nobody holds is gone."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakehouse_assets.lake.change_feed import present_cursor, read_changes
from lakehouse_assets.lake.compaction import compact_table
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.table_log import files_on_disk
from lakehouse_assets.lake.tables import LOG_CLEANUP, Lake
from lakehouse_assets.lake.vacuum import look, vacuum_table
from lakehouse_assets.plan.cursors import Cursor
from lakehouse_assets.plan.holds import Hold
from lakehouse_assets.plan.scope import equal_scopes
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.writes import THINGS, no_spark, rows_of, table_of, thing, write

NOW = timedelta(0)
REPOS = ("a", "b")
Row = dict[str, Any]


def rows_at(lake: Lake, repo: str, version: int | None = None) -> list[Row]:
    with local_sql() as connection:
        sql = relation(lake, THINGS, version=version, scopes=equal_scopes("repo", [repo]))
        return connection.sql(f"SELECT * FROM {sql} ORDER BY ALL").to_arrow_table().to_pylist()


def pin(version: int, repo: str | None = None) -> Hold:
    return Hold(table="things", by=f"pin {repo}@{version}", why="test", partition=repo, version=version)


def reader(repo: str, cursor: Cursor) -> Hold:
    return Hold(table="things", by=f"cursor of {repo}", why="test", partition=repo, feed_from=cursor.end)


def update(lake: Lake, repo: str, path: str, sizes: Sequence[int], run: str) -> None:
    rows = [thing(repo, path, f"f{number}", size) for number, size in enumerate(sizes)]
    write(lake, THINGS, table_of(THINGS, rows), partitions=(repo,), owners=(path,), run_id=run)


def test_what_nobody_holds_goes_and_the_rows_stay(lake: Lake):
    for number in range(4):
        update(lake, "a", "x.py", [number], f"run {number}")
    before = rows_of(lake, THINGS)
    done = vacuum_table(lake, THINGS, (), age=NOW)
    assert len(done.plan.remove) == 3 + 3  # the versions before, and the feed
    assert rows_of(lake, THINGS) == before
    assert len(files_on_disk(lake.path(THINGS))) == 1
    assert done.done is not None
    assert (done.done.action, done.done.files_before, done.done.files_after) == ("vacuum", 7, 1)


def test_looking_removes_nothing(lake: Lake):
    for number in range(2):
        update(lake, "a", "x.py", [number], f"run {number}")
    before = files_on_disk(lake.path(THINGS))
    assert look(lake, THINGS, (), age=NOW).plan.remove
    assert files_on_disk(lake.path(THINGS)) == before


def test_what_is_younger_than_the_safety_age_stays(lake: Lake):
    for number in range(3):
        update(lake, "a", "x.py", [number], f"run {number}")
    done = vacuum_table(lake, THINGS, (), age=timedelta(hours=1))
    assert (done.plan.remove, done.plan.young) == ((), 4)


def test_a_cursor_reads_on_by_the_feed_while_others_files_of_the_same_commits_are_gone(lake: Lake):
    for repo in REPOS:
        update(lake, repo, "x.py", [0], f"first {repo}")
    cursor = present_cursor(lake, THINGS)
    for number in (1, 2):
        for repo in REPOS:
            update(lake, repo, "x.py", [number], f"{repo} {number}")
    vacuum_table(lake, THINGS, [reader("a", cursor)], age=NOW)
    seen = read_changes(lake, THINGS, cursor, equal_scopes("repo", ["a"]))
    assert (seen.way, [row["size"] for row in seen.after.to_pylist()]) == ("feed", [2])
    other = read_changes(lake, THINGS, cursor, equal_scopes("repo", ["b"]))
    assert other.reason == "vacuumed"


def engine_s_own(lake: Lake, *, full: bool, keep: Sequence[int]) -> set[str]:
    """What delta-rs' vacuum would remove."""
    table = DeltaTable(str(lake.path(THINGS)))
    told = table.vacuum(0, dry_run=True, enforce_retention_duration=False, full=full, keep_versions=list(keep))
    return {unquote(path) for path in told}


def test_delta_rs_own_vacuum_would_take_a_feed_that_is_held_or_leave_those_that_are_not(lake: Lake):
    """Why files are removed by the plan: if this fails, the engine has learnt it and can be asked."""
    for number in range(3):
        update(lake, "a", "x.py", [number], f"run {number}")
    latest = lake.open(THINGS).version()
    held = Hold(table="things", by="cursor", why="test", partition="a", feed_from=latest)
    plan = look(lake, THINGS, [held], age=NOW).plan
    feeds = {path for path in files_on_disk(lake.path(THINGS)) if path.startswith("_change_data/")}
    still_read = feeds - set(plan.remove)
    assert still_read
    assert feeds & set(plan.remove)
    assert still_read <= engine_s_own(lake, full=True, keep=range(latest + 1))
    assert not feeds & engine_s_own(lake, full=False, keep=[])


def test_delta_rs_own_vacuum_would_keep_other_repositories_files_with_a_version(lake: Lake):
    """Why files are removed by the plan: if this fails, the engine has learnt it and can be asked."""
    for number in range(2):
        for repo in REPOS:
            update(lake, repo, "x.py", [number], f"{repo} {number}")
    version = lake.open(THINGS).version() - 2
    plan = look(lake, THINGS, [pin(version, "a")], age=NOW).plan
    of_the_other = {path for path in plan.remove if path.startswith("repo=b/")}
    assert of_the_other
    assert not of_the_other & engine_s_own(lake, full=True, keep=[version])


def test_log_entries_go_only_behind_what_is_held(lake: Lake):
    """Versions 0 to 9, each with its number as size; a checkpoint at 6."""
    for number in range(1, 10):
        update(lake, "a", "x.py", [number], f"run {number}")
        if number == 6:
            lake.open(THINGS).create_checkpoint()
    log = lake.path(THINGS) / "_delta_log"
    age_log(lake)
    held = vacuum_table(lake, THINGS, [pin(4, "a"), pin(7, "a")], age=NOW)
    assert (held.plan.log_entries, held.plan.log_held_by) == (0, "pin a@4")
    assert [rows_at(lake, "a", version)[0]["size"] for version in (4, 7)] == [4, 7]
    free = vacuum_table(lake, THINGS, [pin(7, "a")], age=NOW)
    assert (free.plan.log_entries, free.plan.log_held_by) == (6, None)
    assert min(path.name for path in log.iterdir()).startswith(f"{6:020}")
    update(lake, "a", "x.py", [10], "later")
    assert vacuum_table(lake, THINGS, [pin(7, "a")], age=NOW).plan.remove
    assert [row["size"] for row in (*rows_of(lake, THINGS), *rows_at(lake, "a", 7))] == [10, 7]
    assert Ledger(lake).latest([THINGS])["things", "a"].table_version == 10


def test_log_entries_stay_for_a_month_unless_fewer_days_are_asked_for(lake: Lake):
    for number in range(4):
        update(lake, "a", "x.py", [number], f"run {number}")
    lake.open(THINGS).create_checkpoint()
    assert vacuum_table(lake, THINGS, (), age=NOW).plan.log_entries == 0
    assert vacuum_table(lake, THINGS, (), age=NOW, log_age=timedelta(days=1)).plan.log_entries == 0
    assert vacuum_table(lake, THINGS, (), age=NOW, log_age=NOW).plan.log_entries == 4
    assert [row["size"] for row in rows_of(lake, THINGS)] == [3]


def age_log(lake: Lake) -> None:
    """Make every log entry look two months old."""
    for path in (local(lake.path(THINGS)) / "_delta_log").glob("*.json"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for action in lines:
            if "commitInfo" in action:
                action["commitInfo"]["timestamp"] -= 60 * 24 * 3600 * 1000
        path.write_text("".join(json.dumps(action) + "\n" for action in lines))


def test_engines_are_told_to_leave_the_log_alone(lake: Lake):
    update(lake, "a", "x.py", [1], "run")
    assert lake.open(THINGS).metadata().configuration[LOG_CLEANUP] == "false"


@dataclass
class Story:
    """A table that is updated, compacted, pinned, read on and vacuumed in any order, against what was seen before."""

    lake: Lake
    step: int = 0
    pinned: dict[tuple[str, int], list[Row]] = field(default_factory=dict)
    cursors: dict[str, Cursor] = field(default_factory=dict)
    seen: dict[str, dict[tuple[str, str], Row]] = field(default_factory=dict)

    def do(self, action: str, repo: str, path: str, sizes: list[int]) -> None:
        self.step += 1
        match action:
            case "update":
                update(self.lake, repo, path, sizes, f"run {self.step}")
            case "compact":
                compact_table(self.lake, THINGS, spark=no_spark, enough=1)
            case "pin":
                version = self.lake.open(THINGS).version()
                self.pinned[repo, version] = rows_at(self.lake, repo)
            case "unpin":
                self.pinned.pop(next(iter(self.pinned), (repo, -1)), None)
            case "read on":
                self._read_on(repo)
            case _:
                vacuum_table(self.lake, THINGS, self.holds(), age=NOW)
                self.nothing_else_is_left()
        for (name, version), rows in self.pinned.items():
            assert rows_at(self.lake, name, version) == rows

    def holds(self) -> list[Hold]:
        return [pin(version, repo) for repo, version in self.pinned] + [
            reader(repo, cursor) for repo, cursor in self.cursors.items()
        ]

    def _read_on(self, repo: str) -> None:
        """What a reader keeps by the feed alone is what the table has, whatever was removed in between."""
        since = self.cursors.get(repo)
        changes = read_changes(self.lake, THINGS, since, equal_scopes("repo", [repo]))
        assert changes.way in ("feed", "nothing") if since else changes.way == "full"
        known = self.seen.setdefault(repo, {})
        for row in changes.deleted.to_pylist():
            del known[row["path"], row["name"]]
        for row in (*changes.inserted.to_pylist(), *changes.after.to_pylist()):
            known[row["path"], row["name"]] = row
        self.cursors[repo] = changes.cursor
        assert sorted(known.values(), key=str) == sorted(rows_at(self.lake, repo), key=str)

    def nothing_else_is_left(self) -> None:
        """Data files on disk are those of the present and of pinned versions, or stand behind a cursor."""
        table = self.lake.open(THINGS)
        needed = _paths(table)
        for repo, version in self.pinned:
            table.load_as_version(version)
            needed |= {path for path in _paths(table) if f"repo={repo}/" in path}
        behind = min((cursor.end for cursor in self.cursors.values()), default=None)
        left = {path for path in files_on_disk(self.lake.path(THINGS)) if not path.startswith("_change_data")}
        assert needed <= left
        if behind is None:
            assert left == needed
            assert set(files_on_disk(self.lake.path(THINGS))) == needed


def _paths(table: DeltaTable) -> set[str]:
    return {unquote(path) for path in pa.table(table.get_add_actions())["path"].to_pylist()}


steps = st.tuples(
    st.sampled_from(["update", "update", "update", "compact", "pin", "unpin", "read on", "vacuum"]),
    st.sampled_from(REPOS),
    st.sampled_from(["x.py", "y.py", "z.py"]),
    st.lists(st.integers(0, 9), max_size=3),
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(steps, min_size=5, max_size=25))
def test_whatever_is_pinned_reads_as_it_did_and_whatever_is_not_goes(
    tmp_path: Path, story: list[tuple[str, str, str, list[int]]]
):
    shutil.rmtree(tmp_path / "lake", ignore_errors=True)
    lake = Lake(tmp_path / "lake")
    lake.ensure(THINGS)
    told = Story(lake)
    for step in [*story, ("read on", "a", "", []), ("vacuum", "a", "", []), ("read on", "a", "", [])]:
        told.do(*step)
