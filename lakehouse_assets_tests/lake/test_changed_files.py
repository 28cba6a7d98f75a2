"""The files that an update changed, read from the feed of `snapshots` from one sync to the next."""

from pathlib import Path

import pyarrow as pa
import pytest

from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.diagnostics import collecting
from lakehouse_assets.lake.changed_files import Update, compare_files, read_update
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.cursors import Position
from lakehouse_assets_tests.support.synced import SyncedRepo
from lakehouse_assets_tests.support.writes import write

TEXT = "".join(f"def f{number}(): ...\n" for number in range(20))


class Synced(SyncedRepo):
    """A repository that is asked for its changes from one sync to the next."""

    position: Position | None = None

    def update(self) -> Update:
        found = read_update(self.lake, self.name, self.position, self.sync())
        self.position = found.position
        return found


@pytest.fixture
def shop(lake: Lake, tmp_path: Path) -> Synced:
    shop = Synced(lake, tmp_path / "shop")
    shop.repo.commit({"a.py": TEXT, "b.py": "b = 1\n", "c.py": "c = 1\n"})
    return shop


def rows(update: Update) -> pa.Table:
    return compare_files(update.sides)


def told(update: Update) -> list[tuple[str, str]]:
    return list(zip(rows(update)["path"].to_pylist(), rows(update)["change"].to_pylist(), strict=True))


def commits(update: Update) -> set[tuple[str | None, str]]:
    return set(zip(rows(update)["from_commit"].to_pylist(), rows(update)["to_commit"].to_pylist(), strict=True))


def test_the_first_update_adds_every_file(shop: Synced):
    update = shop.update()
    assert told(update) == [("a.py", "added"), ("b.py", "added"), ("c.py", "added")]
    assert {old for old, _ in commits(update)} == {None}
    assert rows(update).schema.names == list(FILE_CHANGES.column_names)


def test_an_update_tells_what_changed_between_its_commits(shop: Synced):
    shop.update()
    first = shop.position
    assert first is not None
    head = shop.repo.commit(
        {"a.py": None, "lib/a.py": TEXT + "x = 1\n", "b.py": "b = 2\n", "c.py": None, "d.py": "d\n"}
    )
    update = shop.update()
    assert told(update) == [("b.py", "modified"), ("c.py", "deleted"), ("d.py", "added"), ("lib/a.py", "renamed")]
    assert commits(update) == {(first.commit, head)}
    renamed = rows(update).to_pylist()[-1]
    assert (renamed["old_path"], renamed["similarity"]) == ("a.py", 97)


def test_several_commits_between_two_updates_are_one_change(shop: Synced):
    shop.update()
    shop.repo.commit({"b.py": "b = 2\n", "new.py": "x\n"})
    shop.sync()
    shop.repo.commit({"b.py": "b = 3\n", "new.py": None})
    assert told(shop.update()) == [("b.py", "modified")]


def test_a_change_that_was_taken_back_is_none(shop: Synced):
    shop.update()
    shop.repo.commit({"b.py": "b = 2\n"})
    shop.sync()
    shop.repo.commit({"b.py": "b = 1\n"})
    update = shop.update()
    assert (told(update), update.changed) == ([], False)


def test_other_repositories_change_nothing(shop: Synced, lake: Lake, tmp_path: Path):
    shop.update()
    other = Synced(lake, tmp_path / "other", name="other")
    other.repo.commit({"a.py": "other\n"})
    assert told(other.update()) == [("a.py", "added")]
    assert not shop.update().changed


def test_reading_again_from_the_same_position_gives_the_same(shop: Synced):
    shop.update()
    start = shop.position
    shop.repo.commit({"b.py": "b = 2\n"})
    commit = shop.sync()
    first = read_update(shop.lake, shop.name, start, commit)
    again = read_update(shop.lake, shop.name, start, commit)
    assert rows(first).equals(rows(again))
    assert first.position.text == again.position.text


def test_where_the_earlier_files_are_lost_everything_is_added_and_it_is_said(shop: Synced):
    shop.update()
    for file in shop.lake.path(SNAPSHOTS).rglob("*.parquet"):
        file.unlink()
    for entry in shop.lake.path(SNAPSHOTS).rglob("*.json"):
        entry.unlink()
    with collecting() as diagnostics:
        update = shop.update()
    assert [change for _, change in told(update)] == ["added"] * 3
    assert {old for old, _ in commits(update)} == {None}
    assert [d.values["reason"] for d in diagnostics if d.part == "change feed"] == ["made_anew"]


def test_the_rows_fit_their_table(shop: Synced):
    changed = rows(shop.update())
    assert write(shop.lake, FILE_CHANGES, changed, partitions=("shop",)).rows_inserted == 3
