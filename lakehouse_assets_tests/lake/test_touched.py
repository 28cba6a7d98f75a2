"""Who reads a partition's changes opens the log entries of its own commits, however many others committed meanwhile."""

from collections.abc import Callable
from pathlib import Path

import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.schema import Field, PrimitiveType

from lakehouse_assets.contracts.materializations import MATERIALIZATIONS
from lakehouse_assets.lake import log_range
from lakehouse_assets.lake.change_feed import Changes, read_changes
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.cursors import Cursor
from lakehouse_assets.plan.scope import equal_scopes
from lakehouse_assets_tests.support.opened import opened_below
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.writes import THINGS, table_of, thing, write

OTHERS = 12


class Shared:
    """The table `things`, of which one reads the partition `a` and others write the rest."""

    def __init__(self, root: Path) -> None:
        self.lake = Lake(root)
        self._writes = 0
        self.put("a", 1)
        self.cursor: Cursor | None = None
        self.read()

    def put(self, repo: str, size: int) -> None:
        """A write by the service: what it commits is in the ledger's index when it ends."""
        self._writes += 1
        rows = table_of(THINGS, [thing(repo, "p", "x", size)])
        write(self.lake, THINGS, rows, partitions=(repo,), run_id=f"run {self._writes}")

    def others_commit(self, count: int = OTHERS) -> None:
        for number in range(count):
            self.put(f"other {number % 3}", self._writes)

    def put_by_another_engine(self, repo: str, name: str) -> None:
        write_deltalake(self.table, table_of(THINGS, [thing(repo, "p", name)]), mode="append", schema_mode="merge")

    @property
    def table(self) -> DeltaTable:
        return self.lake.open(THINGS)

    @property
    def log(self) -> Path:
        return local(self.lake.path(THINGS)) / "_delta_log"

    def read(self) -> Changes:
        changes = read_changes(self.lake, THINGS, self.cursor, equal_scopes("repo", ["a"]))
        self.cursor = changes.cursor
        return changes

    def read_and_opened(self) -> tuple[Changes, set[int]]:
        """The changes, and the versions of the table whose log entries a new process opens for them."""
        log_range._read_entry.cache_clear()
        with opened_below(self.log) as found:
            changes = self.read()
        return changes, {int(each.stem) for each in found if each.suffix == ".json"}


@pytest.fixture
def shared(tmp_path: Path) -> Shared:
    return Shared(tmp_path / "lake")


def test_entries_of_others_are_not_opened(shared: Shared):
    assert shared.cursor is not None
    last = shared.cursor.end - 1
    shared.others_commit()
    shared.put("a", 2)
    own = shared.table.version()
    shared.others_commit()
    changes, opened = shared.read_and_opened()
    assert (changes.way, changes.after["size"].to_pylist()) == ("feed", [2])
    assert opened <= {last, own, shared.table.version()}
    changes, opened = shared.read_and_opened()
    assert (changes.way, opened) == ("nothing", {shared.table.version()})


def test_the_feed_is_read_on_where_entries_of_others_are_gone(shared: Shared):
    shared.others_commit()
    shared.put("a", 2)
    own = shared.table.version()
    shared.others_commit()
    shared.table.create_checkpoint()
    for entry in shared.log.glob("*.json"):
        if int(entry.stem) < own:
            entry.unlink()
    changes = shared.read()
    assert (changes.way, changes.reason, changes.after["size"].to_pylist()) == ("feed", None, [2])


def test_what_another_engine_writes_to_the_partition_is_read(shared: Shared):
    shared.others_commit()
    shared.put_by_another_engine("a", "by another")
    shared.put_by_another_engine("other 1", "by another")
    shared.others_commit()
    changes, opened = shared.read_and_opened()
    assert (changes.way, changes.inserted["name"].to_pylist()) == ("feed", ["by another"])
    assert len(opened) <= 3


def restore(shared: Shared) -> None:
    shared.put("a", 5)
    shared.table.restore(1)


def overwrite(shared: Shared) -> None:
    write_deltalake(shared.table, table_of(THINGS, [thing("a", "p", "x", 9)]), mode="overwrite")


def add_column(shared: Shared) -> None:
    shared.table.alter.add_columns([Field("colour", PrimitiveType("string"), nullable=True)])


def turn_feed_off(shared: Shared) -> None:
    shared.table.alter.set_table_properties({"delta.enableChangeDataFeed": "false"})
    shared.table.delete("repo = 'a'")
    shared.table.alter.set_table_properties({"delta.enableChangeDataFeed": "true"})


@pytest.mark.parametrize(
    ("event", "reason"),
    [(restore, "restored"), (overwrite, "overwritten"), (add_column, "schema_changed"), (turn_feed_off, "feed_off")],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_what_the_feed_cannot_tell_is_noticed_among_commits_of_others(
    shared: Shared, event: Callable[[Shared], None], reason: str
):
    shared.others_commit(3)
    event(shared)
    shared.others_commit(3)
    changes = shared.read()
    assert (changes.way, changes.reason) == ("comparison", reason)
    shared.others_commit(3)
    changes, opened = shared.read_and_opened()
    assert (changes.way, changes.reason, len(opened)) == ("nothing", None, 2)


def test_a_log_that_went_on_otherwise_than_the_index_knows_is_read(shared: Shared):
    shared.others_commit(3)
    for version in range(shared.table.version() - 1, shared.table.version() + 1):
        (shared.log / f"{version:020}.json").unlink()
    shared.put_by_another_engine("a", "by another")
    shared.put_by_another_engine("other 1", "by another")
    changes = shared.read()
    assert (changes.way, changes.inserted["name"].to_pylist()) == ("feed", ["by another"])


def test_an_index_of_an_earlier_release_tells_nothing_and_is_brought_on(shared: Shared):
    index = shared.lake.open(MATERIALIZATIONS)
    rows = shared.lake.read(MATERIALIZATIONS)
    write_deltalake(index, rows.drop_columns(["touched"]), mode="overwrite", schema_mode="overwrite")
    shared.put("a", 2)
    shared.others_commit(2)
    changes = shared.read()
    assert (changes.way, changes.after["size"].to_pylist()) == ("feed", [2])
    shared.others_commit()
    changes, opened = shared.read_and_opened()
    assert (changes.way, len(opened)) == ("nothing", 2)
