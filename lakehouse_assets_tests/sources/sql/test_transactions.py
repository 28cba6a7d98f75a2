"""What PostgreSQL's transactions do to a mark: open ones hold it back, late ones are found."""

import time
import uuid
from dataclasses import replace

import pytest
from adbc_driver_postgresql import dbapi

from lakehouse_assets.contracts.connections import PostgresConnection
from lakehouse_assets.core.settings import Settings
from lakehouse_assets_tests.support.shops import Shop, run_sql

BY_TIMESTAMP = {"strategy": "timestamp", "timestamp": "updated_at"}


def shop_of(settings: Settings, postgres: PostgresConnection, **more: object) -> Shop:
    shop = Shop(settings=settings, source=postgres, target=postgres, more={**BY_TIMESTAMP, **more}, deliver={})
    shop.make()
    return shop


def test_a_long_transaction_that_commits_late_loses_no_row(settings: Settings, postgres: PostgresConnection):
    shop = shop_of(settings, postgres)
    shop.add(1, 2)
    with dbapi.connect(postgres.uri) as slow, slow.cursor() as cursor:
        cursor.execute("INSERT INTO orders (id, customer, updated_at) VALUES (3, 'slow', now())")
        cursor.execute("SAVEPOINT inner_one")  # its rows have a transaction id of their own
        cursor.execute("UPDATE orders SET customer = 'slow', updated_at = now() WHERE id = 1")
        time.sleep(0.01)
        shop.add(4)
        first = shop.ingest()
        assert any("holds the mark back" in text for text in first.plan.warnings)
        assert [row[0] for row in shop.lake_rows()] == ["1", "2", "4"]
        slow.commit()
    done = shop.cycle()
    assert (done.count("rows_inserted"), done.count("rows_updated")) == (1, 1)
    assert not shop.ingest().plan.warnings


def reader_of(postgres: PostgresConnection) -> PostgresConnection:
    """A role that may read the orders, and sees nothing of what others do."""
    role = f"reader_{uuid.uuid4().hex[:8]}"
    run_sql(postgres, [f"CREATE ROLE {role} LOGIN", f"GRANT SELECT ON orders TO {role}"])
    return PostgresConnection(kind="postgresql", uri=postgres.uri.replace("user=tests", f"user={role}"))


WAYS = {
    "timestamp": BY_TIMESTAMP,
    "id": {"strategy": "id", "id": "id"},
    "append by id": {"strategy": "append", "id": "id"},
    "append by timestamp": {"strategy": "append", "timestamp": "updated_at"},
    "both": {"strategy": "timestamp_and_id", "timestamp": "updated_at", "id": "id"},
}


@pytest.mark.parametrize(
    "gaps", ["off", *(pytest.param(each, marks=pytest.mark.slow) for each in ("report", "reread"))]
)
@pytest.mark.parametrize("rights", [True, False], ids=["with rights", "without rights"])
@pytest.mark.parametrize("way", WAYS)
def test_a_row_that_is_committed_late_is_found_by_every_strategy_whatever_the_role_may_see(
    settings: Settings, postgres: PostgresConnection, way: str, rights: bool, gaps: str
):
    owner = shop_of(settings, postgres)
    reader = postgres if rights else reader_of(postgres)
    shop = Shop(settings=settings, source=reader, target=postgres, more={**WAYS[way], "gaps": gaps}, deliver={})
    owner.add(1, 2)
    with dbapi.connect(postgres.uri) as early, early.cursor() as begun, dbapi.connect(postgres.uri) as slow:
        begun.execute("SELECT now()")  # it has begun, and has no transaction id yet
        begun.fetchall()
        with slow.cursor() as cursor:
            cursor.execute("INSERT INTO orders (id, customer, updated_at) VALUES (3, 'slow', now())")
        time.sleep(0.01)
        owner.add(5)
        shop.ingest()
        assert [row[0] for row in shop.lake_rows()] == ["1", "2", "5"]
        begun.execute("INSERT INTO orders (id, customer, updated_at) VALUES (4, 'early', now())")
        early.commit()
        shop.ingest()
        slow.commit()
    owner.add(6)
    shop.ingest()
    assert shop.lake_rows() == shop.source_rows()


def test_a_query_s_late_rows_that_would_be_lost_are_warned_of(settings: Settings, postgres: PostgresConnection):
    """Rows of a query do not tell their transaction: what holds the mark back has to be seen."""
    owner = shop_of(settings, postgres)
    owner.add(1)
    query = {"first_query": "SELECT id, customer, updated_at FROM orders"}
    blind = Shop(settings=settings, source=reader_of(postgres), target=postgres, more={}, deliver={})
    with dbapi.connect(postgres.uri) as slow, slow.cursor() as cursor:
        cursor.execute("INSERT INTO orders (id, customer, updated_at) VALUES (0, 'slow', now())")
        (text,) = replace(blind, more={**BY_TIMESTAMP, **query, "gaps": "off"}).ingest().plan.warnings
        assert "sessions of other roles cannot be seen" in text
        assert "pg_read_all_stats" in text
        by_id = replace(owner, more={**WAYS["id"], **query, "gaps": "off"})
        (text,) = by_id.ingest().plan.warnings
        assert "may have taken ids" in text
        slow.commit()
    searching = replace(blind, more={**BY_TIMESTAMP, **query, "gaps": "reread"})
    assert not searching.ingest().plan.warnings
    assert searching.lake_rows() == searching.source_rows()


def test_rows_of_a_query_wait_for_open_transactions_too(settings: Settings, postgres: PostgresConnection):
    """A query's rows do not tell which transaction wrote them; that the mark is held back is enough."""
    query = "SELECT id, customer, updated_at FROM orders"
    shop = shop_of(settings, postgres, first_query=query, gaps="off")
    shop.add(1)
    with dbapi.connect(postgres.uri) as slow, slow.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchall()  # it has begun, and will write as of now
        time.sleep(0.01)
        shop.add(2)
        shop.ingest()
        cursor.execute("INSERT INTO orders (id, customer, updated_at) VALUES (3, 'slow', now())")
        slow.commit()
    shop.cycle()
    assert [row[0] for row in shop.lake_rows()] == ["1", "2", "3"]


def test_a_row_that_is_dated_back_is_found_by_its_transaction(settings: Settings, postgres: PostgresConnection):
    shop = shop_of(settings, postgres)
    shop.add(1, 2)
    shop.cycle()
    shop.change(1, at="'2001-01-01'")
    done = shop.cycle()
    assert (done.rows_read, done.rows_late) == (1, 1)


def test_a_database_that_is_behind_the_mark_is_read_as_a_whole(settings: Settings, postgres: PostgresConnection):
    """As after a restore: its transactions are fewer than the mark has seen."""
    shop = shop_of(settings, postgres)
    shop.add(1)
    done = shop.ingest()
    from lakehouse_assets.lake.tables import Lake
    from lakehouse_assets.sources.sql.ingest import set_mark
    from lakehouse_assets.sources.sql.ingested import stored_contract
    from lakehouse_assets.sources.sql.whole_way import upsert_service

    ingest = shop.project.ingest[0]
    contract = stored_contract(Lake(settings.lake), ingest)
    assert contract is not None
    ahead = replace(done.plan.mark, snapshot="900000:900000:")
    set_mark(upsert_service(settings), contract, ingest, ahead, run_id="ahead")
    again = shop.ingest()
    assert (again.plan.mode, again.rows_read) == ("everything", 1)
    assert "restored" in again.plan.reason


def test_a_large_first_run_comes_in_files_and_in_one_commit(settings: Settings, postgres: PostgresConnection):
    shop = shop_of(settings, postgres)
    shop.run(
        "INSERT INTO orders SELECT i, 'c' || i % 10, i / 4.0, i / 3.0, i % 2 = 0, '2026-01-02', clock_timestamp() "
        "FROM generate_series(1, 101000) AS i"
    )
    done = shop.ingest()
    (write,) = done.writes
    assert (write.executor, write.rows_inserted) == ("delta-rs", 101_000)
    assert write.version_after == 1
    assert shop.send()["target_rows"] == 101_000  # and compared, by hash
    shop.change(7, 100_007)
    assert shop.ingest().count("rows_updated") == 2
    sent = shop.send()
    assert (sent["way"], sent["rows_updated"], sent["rows_compared"]) == ("feed", 2, 2)
