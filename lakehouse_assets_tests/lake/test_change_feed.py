"""The change feed gives one net change per key, from cursor to cursor, and says when it had to read otherwise."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.schema import Field, PrimitiveType
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.core.diagnostics import collecting
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.change_feed import Changes, changed_owners, present_cursor, read_changes
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.cursors import WHY, Cursor, FilterPolicy
from lakehouse_assets.plan.scope import equal_scopes
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.writes import THINGS, table_of, thing, write

A = equal_scopes("repo", ["a"])
Row = dict[str, Any]


class Things:
    """The table `things`, changed by plain Delta commands, and read from a cursor to the next."""

    def __init__(self, root: Path) -> None:
        self.lake = Lake(root)
        self.lake.ensure(THINGS)
        self.cursor: Cursor | None = None

    @property
    def folder(self) -> Path:
        return local(self.lake.path(THINGS))

    @property
    def table(self) -> DeltaTable:
        return self.lake.open(THINGS)

    def insert(self, *rows: Row) -> None:
        write_deltalake(self.table, table_of(THINGS, rows), mode="append", schema_mode="merge")

    def update(self, row: Row) -> None:
        merge = self.table.merge(
            table_of(THINGS, [row]),
            predicate="t.repo = s.repo AND t.path = s.path AND t.name = s.name",
            source_alias="s",
            target_alias="t",
        )
        merge.when_matched_update_all().execute()

    def delete(self, name: str, repo: str = "a") -> None:
        self.table.delete(f"repo = '{repo}' AND name = '{name}'")

    def replace(self, *rows: Row, repo: str = "a") -> None:
        write_deltalake(self.table, table_of(THINGS, rows), mode="overwrite", predicate=f"repo = '{repo}'")

    def rows(self) -> dict[str, Row]:
        held = self.lake.read(THINGS, where="repo = 'a'").to_pylist()
        return {row["name"]: row for row in held}

    def read(self, **options: Any) -> Changes:
        changes = read_changes(self.lake, THINGS, self.cursor, A, **options)
        self.cursor = changes.cursor
        return changes


@pytest.fixture
def things(tmp_path: Path) -> Things:
    things = Things(tmp_path / "lake")
    things.insert(thing("a", "p", "x", 1), thing("a", "p", "y", 2), thing("b", "p", "x", 3))
    things.read()
    return things


def told(changes: Changes) -> dict[str, list[tuple[str, int | None]]]:
    """The changes by kind, as name and size; kinds without changes are left out."""
    tables = {"insert": changes.inserted, "delete": changes.deleted, "before": changes.before, "after": changes.after}
    return {
        kind: list(zip(rows["name"].to_pylist(), rows["size"].to_pylist(), strict=True))
        for kind, rows in tables.items()
        if rows.num_rows
    }


def applied(rows: dict[str, Row], changes: Changes) -> dict[str, Row]:
    after = {} if changes.starts_over else dict(rows)
    for row in changes.deleted.to_pylist():
        assert after.pop(row["name"]) == row
    for row in changes.before.to_pylist():
        assert after[row["name"]] == row
    for row in changes.inserted.to_pylist():
        assert row["name"] not in after
    for row in (*changes.inserted.to_pylist(), *changes.after.to_pylist()):
        after[row["name"]] = row
    return after


def test_the_first_reading_gives_all_rows(tmp_path: Path):
    things = Things(tmp_path)
    things.insert(thing("a", "p", "x", 1), thing("b", "p", "x", 3))
    changes = things.read()
    assert (changes.way, changes.reason, changes.starts_over) == ("full", "first_read", True)
    assert told(changes) == {"insert": [("x", 1)]}


def test_inserts_updates_and_deletes_are_told(things: Things):
    things.insert(thing("a", "p", "z", 5))
    things.update(thing("a", "p", "x", 7))
    things.delete("y")
    changes = things.read()
    assert (changes.way, changes.reason) == ("feed", None)
    assert told(changes) == {"insert": [("z", 5)], "before": [("x", 1)], "after": [("x", 7)], "delete": [("y", 2)]}
    assert changes.count == 3


X9 = thing("a", "p", "x", 9)
Z = thing("a", "p", "z", 5)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        pytest.param([lambda t: t.insert(Z), lambda t: t.delete("z")], {}, id="inserted and deleted: nothing"),
        pytest.param(
            [lambda t: t.insert(Z), lambda t: t.update({**Z, "size": 6})],
            {"insert": [("z", 6)]},
            id="inserted and updated: inserted",
        ),
        pytest.param(
            [lambda t: t.update({**X9, "size": 8}), lambda t: t.update(X9)],
            {"before": [("x", 1)], "after": [("x", 9)]},
            id="updated twice: updated once",
        ),
        pytest.param(
            [lambda t: t.update(X9), lambda t: t.update({**X9, "size": 1})], {}, id="updated there and back: nothing"
        ),
        pytest.param(
            [lambda t: t.update(X9), lambda t: t.delete("x")], {"delete": [("x", 1)]}, id="updated, deleted: deleted"
        ),
        pytest.param(
            [lambda t: t.delete("x"), lambda t: t.insert(X9)],
            {"before": [("x", 1)], "after": [("x", 9)]},
            id="deleted and inserted: updated",
        ),
        pytest.param(
            [lambda t: t.delete("x"), lambda t: t.insert({**X9, "size": 1})], {}, id="deleted, inserted equal: nothing"
        ),
        pytest.param(
            [lambda t: t.replace(X9, Z)],
            {"insert": [("z", 5)], "before": [("x", 1)], "after": [("x", 9)], "delete": [("y", 2)]},
            id="the partition replaced: what differs",
        ),
        pytest.param(
            [lambda t: t.update({**X9, "size": None}), lambda t: t.update({**X9, "size": None, "kind": "a"})],
            {"before": [("x", 1)], "after": [("x", None)]},
            id="NULL is a value like any other",
        ),
        pytest.param([lambda t: t.table.optimize.compact()], {}, id="files put together: nothing"),
        pytest.param([lambda t: t.delete("x", repo="b")], {}, id="another partition: nothing"),
    ],
)
def test_several_changes_of_a_key_are_one(things: Things, steps: list[Callable[[Things], Any]], expected):
    before = things.rows()
    for step in steps:
        step(things)
    changes = things.read()
    assert changes.reason is None
    assert told(changes) == expected
    assert applied(before, changes) == things.rows()


def test_each_commit_is_read_once(things: Things):
    first = things.cursor
    assert first is not None
    things.insert(Z)
    assert told(things.read()) == {"insert": [("z", 5)]}
    again = things.read()
    assert (again.way, again.count) == ("nothing", 0)
    things.delete("z")
    assert told(things.read()) == {"delete": [("z", 5)]}
    assert things.cursor is not None
    assert (things.cursor.start, things.cursor.end) == (3, 4)
    # From an earlier cursor the same range comes out again: reading moves nothing by itself.
    assert told(read_changes(things.lake, THINGS, first, A)) == {}


def test_other_partitions_are_neither_told_nor_read(things: Things):
    things.insert(Z, thing("b", "p", "new"))
    for file in (things.folder / "repo=b").iterdir():
        file.unlink()
    changes = things.read()
    assert (changes.way, told(changes)) == ("feed", {"insert": [("z", 5)]})


def test_a_policy_says_which_columns_and_kinds_of_change_count(things: Things):
    sizes = FilterPolicy(name="sizes", columns=("size",), change_types=("update",))
    things.read(policy=sizes)
    things.insert(Z)
    things.update(thing("a", "p", "x", 1, kind="b"))
    assert told(things.read(policy=sizes)) == {}
    things.update(thing("a", "p", "y", 20, kind="b"))
    assert told(things.read(policy=sizes)) == {"before": [("y", 2)], "after": [("y", 20)]}
    assert things.read().reason == "policy_changed"


def test_only_the_columns_asked_for_are_read(things: Things):
    things.insert(Z)
    changes = things.read(columns=["size"])
    assert changes.inserted.column_names == ["repo", "path", "name", "size"]
    with pytest.raises(BadInputError, match="no column colour"):
        things.read(columns=["colour"])


def test_changed_owners_are_those_with_a_net_change(things: Things):
    things.insert(thing("a", "q", "n"), thing("a", "r", "n"), thing("b", "s", "n"))
    things.table.delete("path = 'r'")
    things.update(thing("a", "p", "x", 2))
    found = changed_owners(things.lake, THINGS, things.cursor, A)
    assert (found.owners, found.way) == (("p", "q"), "feed")
    assert changed_owners(things.lake, THINGS, None, A).owners is None
    with pytest.raises(BadInputError, match="no owner"):
        changed_owners(things.lake, COMMITS, None, A)


def test_whoever_read_the_table_by_other_means_goes_on_from_the_present(things: Things):
    things.insert(Z)
    things.cursor = present_cursor(things.lake, THINGS)
    things.delete("z")
    assert told(things.read()) == {"delete": [("z", 5)]}


def make_anew(things: Things) -> None:
    """The same rows at the same versions: only the table's id tells it from the one before."""
    shutil.rmtree(things.folder)
    things.lake.ensure(THINGS)
    things.insert(thing("a", "p", "x", 1), thing("a", "p", "y", 2), thing("b", "p", "x", 3))


def restore(things: Things) -> None:
    things.delete("y")
    things.table.restore(1)


def overwrite(things: Things) -> None:
    write_deltalake(things.table, table_of(THINGS, [X9]), mode="overwrite")


def add_column(things: Things) -> None:
    things.table.alter.add_columns([Field("colour", PrimitiveType("string"), nullable=True)])
    things.delete("y")


def expire_log(things: Things) -> None:
    things.delete("y")
    things.insert(Z)
    things.delete("z")
    things.table.create_checkpoint()
    for version in range(4):
        (things.folder / "_delta_log" / f"{version:020}.json").unlink()


def turn_feed_off(things: Things) -> None:
    things.table.alter.set_table_properties({"delta.enableChangeDataFeed": "false"})
    things.delete("y")
    things.table.alter.set_table_properties({"delta.enableChangeDataFeed": "true"})


def lose_feed_files(things: Things) -> None:
    things.delete("y")
    shutil.rmtree(things.folder / "_change_data")


@pytest.mark.parametrize(
    ("event", "way", "reason"),
    [
        (make_anew, "full", "made_anew"),
        (restore, "comparison", "restored"),
        (overwrite, "comparison", "overwritten"),
        (add_column, "comparison", "schema_changed"),
        (expire_log, "full", "log_expired"),
        (turn_feed_off, "comparison", "feed_off"),
        (lose_feed_files, "comparison", "vacuumed"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_what_the_feed_cannot_tell_is_noticed_and_read_otherwise(things: Things, event, way: str, reason: str):
    before = things.rows()
    event(things)
    with collecting() as diagnostics:
        changes = things.read()
    assert (changes.way, changes.reason) == (way, reason)
    assert applied(before, changes) == things.rows()
    (said,) = [d for d in diagnostics if d.part == "change feed"]
    assert (said.level, said.values["reason"]) == ("warning", reason)
    assert changes.reason is not None
    assert said.message.startswith(WHY[changes.reason])
    assert ("compared with the earlier" in said.message) == (way == "comparison")
    # The next reading is by the feed again.
    things.insert(Z)
    assert told(things.read()) == {"insert": [("z", 5)]}


def test_a_vacuum_that_took_the_earlier_rows_as_well_leaves_a_full_reading(things: Things):
    things.replace(X9)
    things.table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    changes = things.read()
    assert (changes.way, changes.reason) == ("full", "vacuumed")
    assert told(changes) == {"insert": [("x", 9)]}


def test_a_log_that_lost_its_end_and_one_that_went_on_otherwise_are_noticed(things: Things):
    things.insert(Z)
    things.read()
    (things.folder / "_delta_log" / f"{2:020}.json").unlink()
    assert read_changes(things.lake, THINGS, things.cursor, A).reason == "rewound"
    things.insert(thing("a", "p", "other"))
    changes = things.read()
    assert (changes.way, changes.reason) == ("full", "rewritten")
    assert {name for name, _ in told(changes)["insert"]} == {"x", "y", "other"}


def test_a_column_that_changed_its_type_is_not_compared(things: Things):
    rows = table_of(THINGS, [X9])
    texts = rows.set_column(rows.column_names.index("size"), "size", rows["size"].cast(pa.string()))
    write_deltalake(things.table, texts, mode="overwrite", schema_mode="overwrite")
    changes = things.read()
    assert (changes.way, changes.reason) == ("full", "overwritten")
    assert told(changes) == {"insert": [("x", 9)]}


@pytest.mark.slow
def test_what_spark_writes_is_read_like_everything_else(tmp_path: Path, spark):
    things = Things(tmp_path / "lake")
    states = [
        [thing("a", "p", "x", 1), thing("a", "p", "y", 2)],
        [thing("a", "p", "x", 1), thing("a", "p", "y", 3), thing("a", "q", "z", 4)],
        [thing("a", "q", "z", 5)],
    ]
    before: dict[str, Row] = {}
    last: dict[str, list[tuple[str, int | None]]] = {}
    for number, rows in enumerate(states):
        batch = table_of(THINGS, rows)
        write(things.lake, THINGS, batch, run_id=f"run {number}", executor="spark", spark=spark)
        changes = things.read()
        assert changes.way == ("feed" if number else "full")
        before = applied(before, changes)
        assert before == things.rows()
        last = told(changes)
    assert last == {"delete": [("x", 1), ("y", 3)], "before": [("z", 4)], "after": [("z", 5)]}


NAMES = st.sampled_from(["x", "y", "z", "w"])
STEP = st.one_of(
    st.tuples(st.just("put"), NAMES, st.integers(0, 2)),
    st.tuples(st.just("delete"), NAMES, st.none()),
    st.tuples(st.just("replace"), st.none(), st.integers(0, 3)),
    st.tuples(st.sampled_from(["optimize", "restore", "overwrite", "read", "others"]), st.none(), st.none()),
)


@given(steps=st.lists(STEP, min_size=1, max_size=12))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_changes_lead_from_any_cursor_to_the_present_rows(tmp_path_factory: pytest.TempPathFactory, steps):
    things = Things(tmp_path_factory.mktemp("lake"))
    write(things.lake, THINGS, table_of(THINGS, [thing("a", "p", "x", 0)]), run_id="first")
    things.read()
    before = things.rows()
    for step, (kind, name, number) in enumerate([*steps, ("read", "", 0)]):
        match kind:
            case "put" if name in things.rows():
                things.update(thing("a", "p", name, number))
            case "put":
                things.insert(thing("a", "p", name, number))
            case "delete":
                things.delete(name)
            case "replace":
                things.replace(*(thing("a", "p", each, number) for each in "xyz"[:number]))
            case "optimize":
                things.table.optimize.compact()
            case "restore":
                things.delete("no such")
                things.table.restore(max(0, things.table.version() - 2))
            case "overwrite":
                write_deltalake(things.table, table_of(THINGS, [thing("a", "p", "x", 1)]), mode="overwrite")
            case "others":  # brings the ledger's index up to the log
                rows = table_of(THINGS, [thing("b", "p", "x", step)])
                write(things.lake, THINGS, rows, partitions=("b",), run_id=f"run {step}")
            case _:
                changes = things.read()
                assert applied(before, changes) == things.rows()
                before = things.rows()
