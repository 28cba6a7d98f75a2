"""Rows of a real database come into the lake and go out to another; after each cycle all three are equal."""

from dataclasses import replace

import pytest

from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.sources.sql.ingested import stored_contract
from lakehouse_assets_tests.sources.sql.conftest import MakeShop
from lakehouse_assets_tests.support.shops import Shop, table_rows

BY_TIMESTAMP = {"strategy": "timestamp", "timestamp": "updated_at"}


def test_five_cycles_by_timestamp(make_shop: MakeShop):
    shop = make_shop(**BY_TIMESTAMP)
    shop.add(1, 2, 3)
    assert shop.cycle().plan.mode == "first"

    shop.add(4)
    shop.change(2)
    second = shop.cycle()
    assert second.plan.mode == "window"
    assert (second.count("rows_inserted"), second.count("rows_updated")) == (1, 1)

    nothing = shop.cycle()
    assert nothing.count("rows_inserted") + nothing.count("rows_updated") == 0

    shop.add(5, at="'2026-01-01 00:00:00.000'")  # late: behind the mark
    late = shop.cycle()
    assert late.rows_late == 1

    shop.run("ALTER TABLE orders ADD COLUMN note VARCHAR(20) DEFAULT 'none'")
    shop.ingest()
    with pytest.raises(BadInputError, match="it lacks note"):
        shop.send()


def test_a_new_column_reaches_rows_that_did_not_change(make_shop: MakeShop):
    shop = make_shop(deliver={"schema_policy": "evolve"}, **BY_TIMESTAMP)
    shop.add(1, 2)
    shop.cycle()
    shop.run("ALTER TABLE orders ADD COLUMN note VARCHAR(20) DEFAULT 'none'")
    done = shop.cycle()
    assert (done.plan.mode, done.plan.reason) == ("everything", "the source has other columns than before")
    assert "note" in shop.columns


def test_a_new_column_is_left_out_under_discard_unless_it_is_named(make_shop: MakeShop):
    shop = make_shop(schema_policy="discard", **BY_TIMESTAMP)
    shop.add(1, 2)
    shop.cycle()
    before = shop.columns
    shop.run("ALTER TABLE orders ADD COLUMN note VARCHAR(20) DEFAULT 'none'")
    shop.add(3)
    done = shop.cycle()
    assert (done.plan.mode, done.count("rows_inserted"), shop.columns) == ("window", 1, before)
    named = replace(shop, more={**shop.more, "columns": [{"name": "note"}]}, deliver={"schema_policy": "evolve"})
    named.cycle()
    assert named.columns == [*before, "note"]


@pytest.mark.parametrize("strategy", [BY_TIMESTAMP, {"strategy": "snapshot"}], ids=["timestamp", "snapshot"])
def test_a_column_that_is_gone_from_the_source_is_named_and_keeps_its_values(
    make_shop: MakeShop, strategy: dict[str, str]
):
    shop = make_shop(**strategy)
    shop.add(1, 2)
    shop.cycle()
    columns = shop.columns
    before, copied = shop.lake_rows(), table_rows(shop.target, "orders_copy", columns)
    shop.run("ALTER TABLE orders DROP COLUMN customer")
    shop.run("UPDATE orders SET price = 7")
    for _ in range(2):
        with pytest.raises(BadInputError, match="the table has customer, which no longer comes"):
            shop.ingest()
    shop.send()
    assert (shop.lake_rows(), table_rows(shop.target, "orders_copy", columns)) == (before, copied)
    forced = shop.ingest(force_first_run=True)
    assert "customer no longer comes" in forced.plan.warnings[-1]
    assert {row[columns.index("customer")] for row in shop.lake_rows()} == {""}
    assert shop.ingest().count("rows_updated") == 0  # the values were given up, and nobody asks again


def test_a_snapshot_finds_deletes(make_shop: MakeShop):
    shop = make_shop(strategy="snapshot")
    shop.add(1, 2, 3)
    shop.cycle()
    shop.remove(2)
    shop.change(3)
    shop.add(4)
    done = shop.cycle()
    assert [done.count(f"rows_{name}") for name in ("inserted", "updated", "deleted")] == [1, 1, 1]


def commits(shop: Shop) -> tuple[int, int]:
    """Of the lake's table, and of the account of writes."""
    lake = Lake(shop.settings.lake)
    contract = stored_contract(lake, shop.project.ingest[0])
    assert contract is not None
    return lake.open(contract).version(), lake.open(WRITES).version()


def test_a_snapshot_without_news_commits_nothing(make_shop: MakeShop):
    shop = make_shop(strategy="snapshot")
    shop.add(1, 2)
    first = shop.cycle()
    before = commits(shop)
    done = shop.cycle()
    assert (done.writes, done.rows_read, done.mark) == ((), 2, first.mark)
    assert commits(shop) == before


def test_a_source_without_rows_is_made_once_and_then_left_alone(make_shop: MakeShop):
    shop = make_shop(**BY_TIMESTAMP)
    shop.cycle()
    before = commits(shop)
    assert shop.cycle().plan.mode == "first"
    assert commits(shop) == before
    shop.add(1)
    assert shop.cycle().count("rows_inserted") == 1


def test_rows_read_again_commit_nothing_but_a_mark_that_moves(make_shop: MakeShop):
    shop = make_shop(null_cursor="include", **BY_TIMESTAMP)
    shop.add(1, at="NULL")  # read each time
    shop.cycle()
    before = commits(shop)
    moved = shop.cycle()
    assert (commits(shop)[0], moved.count("rows_updated"), moved.mark) == (before[0] + 1, 0, moved.plan.mark)


def test_a_range_that_only_lacks_deleted_rows_is_read_again_without_a_commit(make_shop: MakeShop):
    shop = make_shop(gaps="reread", **BY_TIMESTAMP)
    shop.add(1, 2, 3)
    shop.cycle()
    shop.remove(2)
    before = commits(shop)
    assert shop.ingest().writes == ()
    assert commits(shop) == before


def test_new_rows_by_id_and_changed_ones_by_timestamp(make_shop: MakeShop):
    shop = make_shop(strategy="timestamp_and_id", timestamp="updated_at", id="id")
    shop.add(1, 2, at="NULL")  # never changed
    shop.cycle()
    shop.add(3, at="NULL")
    shop.change(1)
    done = shop.cycle()
    assert (done.count("rows_inserted"), done.count("rows_updated")) == (1, 1)


@pytest.mark.parametrize("by", [{"strategy": "timestamp"}, {"strategy": "timestamp_and_id", "id": "id"}])
def test_changes_as_of_a_moment_behind_the_mark_are_found_by_counting(make_shop: MakeShop, by: dict[str, str]):
    """Over a query, rows do not tell their transaction: both sides are counted, with what the cursors add up to."""
    first, second = "'2026-01-01 00:00:00.000'", "'2026-01-01 00:00:00.001'"
    kinds = [{"name": "updated_at", "type": "timestamp"}, {"name": "id", "type": "bigint"}]
    shop = make_shop(first_query="SELECT * FROM orders", columns=kinds, timestamp="updated_at", **by)
    shop.add(1, at=first)
    shop.add(2, at=second)
    shop.ingest()
    shop.change(1, customer="moved to the moment of the other", at=second)
    shop.change(2, customer="and the other way", at=first)
    done = shop.ingest()
    assert (done.rows_late, done.count("rows_updated"), len(done.gaps)) == (2, 2, 1)
    assert shop.ingest().gaps == ()


def test_rows_that_only_grow_come_by_id_and_one_that_was_skipped_is_found(make_shop: MakeShop):
    shop = make_shop(strategy="append", id="id")
    shop.add(1, 5)
    shop.cycle()
    shop.add(6)
    shop.add(3)  # taken early, committed late
    done = shop.cycle()
    assert done.rows_late == 1


def test_rows_with_the_timestamp_of_the_boundary_are_never_parted(make_shop: MakeShop):
    """The window ends before the source's present moment, so that all rows of that moment come together."""
    shop = make_shop(clock="SELECT now FROM clock", gaps="off", **BY_TIMESTAMP)
    kind = "timestamptz" if shop.source.kind == "postgresql" else "TEXT"
    shop.run(f"CREATE TABLE clock (now {kind})", "INSERT INTO clock VALUES ('2026-03-01 12:00:00.000')")
    shop.add(1, at="'2026-03-01 11:59:59.999'")
    shop.add(2, at="'2026-03-01 12:00:00.000'")
    shop.ingest()
    assert [row[0] for row in shop.lake_rows()] == ["1"]
    shop.add(3, at="'2026-03-01 12:00:00.000'")
    shop.run("UPDATE clock SET now = '2026-03-01 12:00:00.001'")
    shop.cycle()


def test_when_the_clock_goes_back_everything_is_read_again(make_shop: MakeShop):
    shop = make_shop(clock="SELECT now FROM clock", gaps="off", **BY_TIMESTAMP)
    kind = "timestamptz" if shop.source.kind == "postgresql" else "TEXT"
    shop.run(f"CREATE TABLE clock (now {kind})", "INSERT INTO clock VALUES ('2026-03-01 12:00:00.000')")
    shop.add(1, 2, at="'2026-03-01 11:00:00.000'")
    shop.cycle()
    shop.run("UPDATE clock SET now = '2026-03-01 10:00:00.000'")
    shop.add(3, at="'2026-03-01 09:00:00.000'")
    shop.change(1, at="'2026-03-01 09:30:00.000'")
    done = shop.ingest()
    assert done.plan.mode == "everything"
    assert "the source's clock went back" in done.plan.reason
    assert done.count("rows_inserted") == done.count("rows_updated") == 1
    shop.run("UPDATE clock SET now = '2026-03-01 10:30:00.000'")
    shop.change(2, at="'2026-03-01 10:10:00.000'")
    shop.cycle()


def test_rows_younger_than_the_lag_wait(make_shop: MakeShop):
    shop = make_shop(lag_seconds=3600, **BY_TIMESTAMP)
    shop.add(1, at="'2026-01-01 00:00:00.000'")
    shop.add(2)
    done = shop.ingest()
    assert [row[0] for row in shop.lake_rows()] == ["1"]
    assert done.plan.mark.timestamp is not None
    assert (done.plan.mark.clock - done.plan.mark.timestamp).total_seconds() == pytest.approx(3600, abs=0.01)


@pytest.mark.parametrize(("policy", "ids"), [("include", ["1", "2"]), ("exclude", ["1"])])
def test_rows_without_a_cursor_value_are_treated_as_the_policy_says(make_shop: MakeShop, policy: str, ids: list[str]):
    shop = make_shop(null_cursor=policy, **BY_TIMESTAMP)
    shop.add(1)
    shop.ingest()
    shop.add(2, at="NULL")
    done = shop.ingest()
    assert [row[0] for row in shop.lake_rows()] == ids
    assert bool(done.plan.warnings) == (policy == "exclude")


def test_rows_without_a_cursor_value_are_refused_by_default(make_shop: MakeShop):
    shop = make_shop(**BY_TIMESTAMP)
    shop.add(1, at="NULL")
    with pytest.raises(BadInputError, match="1 rows have no value in updated_at"):
        shop.ingest()


def test_queries_with_named_parameters(make_shop: MakeShop):
    shop = make_shop(
        first_query="SELECT *, ':x' AS colon FROM orders WHERE updated_at < :until",
        incremental_query="SELECT *, ':x' AS colon FROM orders WHERE updated_at >= :mark AND updated_at < :until",
        columns=[{"name": "updated_at", "type": "timestamp"}, {"name": "id", "type": "bigint"}],
        **BY_TIMESTAMP,
    )
    shop.add(1, 2)
    shop.ingest()
    shop.change(2)
    done = shop.ingest()
    assert ":mark" not in done.plan.query
    assert "':x'" in done.plan.query
    assert done.count("rows_updated") == 1


def test_a_first_run_by_force_reads_all_and_drops_what_is_gone(make_shop: MakeShop):
    shop = make_shop(**BY_TIMESTAMP)
    shop.add(1, 2)
    shop.cycle()
    shop.remove(1)
    shop.ingest(force_first_run=True)
    shop.send()
    shop.all_equal()
