"""The asset `file_changes`: each update once, with its position in the same commit as its rows."""

from pathlib import Path

import pytest

from lakehouse_assets.assets.change.file_changes import last_updates
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.local_engine import local_engine
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.upsert import UpsertService
from lakehouse_assets.plan.cursors import Position, read_position
from lakehouse_assets.plan.scope import Equals
from lakehouse_assets_tests.support.synced import SyncedRepo
from lakehouse_assets_tests.support.writes import no_spark, rows_of, write


class Shop(SyncedRepo):
    """A repository that is asked for its last update."""

    def update(self, run_id: str) -> int:
        """Make the asset as its run would; gives the number of its writes."""
        with local_engine() as engine:
            made = last_updates(engine, LakehouseResource(), ["shop"])
        service = UpsertService(self.lake, spark=no_spark)
        for batch in made.batches:
            service.write(FILE_CHANGES, batch, {"shop": (Equals(column="repo", value="shop"),)}, run_id=run_id)
        assert len(made.batches) + len(made.untouched) == 1
        return len(made.batches)

    def changes(self) -> dict[str, str]:
        return {row["path"]: row["change"] for row in rows_of(self.lake, FILE_CHANGES)}

    def position(self) -> Position:
        held = read_position(Ledger(self.lake).latest([FILE_CHANGES])[(FILE_CHANGES.name, "shop")].cursor)
        assert held is not None
        return held


@pytest.fixture
def shop(lake: Lake, tmp_path: Path) -> Shop:
    shop = Shop(lake, tmp_path / "shop")
    shop.repo.commit({"a.py": "a = 1\n", "b.py": "b = 1\n"})
    shop.sync()
    shop.update("run 1")
    return shop


def test_rows_are_those_of_the_last_update_alone(shop: Shop):
    assert shop.changes() == {"a.py": "added", "b.py": "added"}
    head = shop.repo.commit({"a.py": "a = 2\n"})
    shop.sync()
    assert shop.update("run 2") == 1
    assert shop.changes() == {"a.py": "modified"}
    assert shop.position().commit == head


def test_without_changes_nothing_is_made(shop: Shop):
    before = shop.lake.open(FILE_CHANGES).version()
    assert shop.update("run 2") == 0
    shop.repo.commit({})
    shop.sync()
    assert shop.update("run 3") == 0
    assert shop.lake.open(FILE_CHANGES).version() == before


def test_a_position_moves_without_rows_where_only_other_columns_changed(shop: Shop):
    rows = shop.lake.read(SNAPSHOTS)
    flags = [True] * rows.num_rows
    at = rows.column_names.index("is_test")
    flagged = rows.set_column(at, rows.field(at), [flags])
    commit = shop.position().commit
    write(shop.lake, SNAPSHOTS, flagged, partitions=("shop",), run_id="flags", cursor=commit)
    before = shop.position().cursors["snapshots"].end
    assert shop.update("run 2") == 1
    assert shop.changes() == {"a.py": "added", "b.py": "added"}
    assert shop.position().cursors["snapshots"].end == before + 1
    assert shop.update("run 3") == 0


def test_a_run_that_was_killed_before_its_commit_is_made_again_from_the_same_position(shop: Shop):
    shop.repo.commit({"a.py": "a = 2\n", "c.py": "c = 1\n"})
    shop.sync()
    with local_engine() as engine:
        last_updates(engine, LakehouseResource(), ["shop"])  # nothing is handed over
    assert shop.update("run 2") == 1
    assert shop.changes() == {"a.py": "modified", "c.py": "added"}
