"""Sources as people have them: names that SQL reserves, values that other engines lack, cursors of odd types."""

from dataclasses import replace
from typing import Any

import pytest

from lakehouse_assets.core.errors import BadInputError, LakehouseError, SourceError
from lakehouse_assets_tests.sources.sql.conftest import MakeShop
from lakehouse_assets_tests.support.shops import Shop, table_rows

on_postgresql = pytest.mark.parametrize("make_shop", ["postgresql"], indirect=True)
on_sqlite = pytest.mark.parametrize("make_shop", ["sqlite"], indirect=True)
SNAPSHOT = {"strategy": "snapshot", "table": "odd", "key": ["id"]}


def column(shop: Shop, name: str) -> list[Any]:
    return [row[shop.columns.index(name)] for row in shop.lake_rows()]


def is_postgres(shop: Shop) -> bool:
    return shop.source.kind == "postgresql"


def test_names_that_sql_reserves_and_capitals_go_the_whole_way(make_shop: MakeShop):
    shop = make_shop(strategy="snapshot", table="Order", key=["Id", "select"])
    shop.run('CREATE TABLE "Order" ("Id" int, "select" text, "from" text, "order by" text)')
    shop.run("""INSERT INTO "Order" VALUES (1, 'a', '', NULL), (1, 'b', 'x', 'y')""")
    shop.ingest()
    shop.send()
    shop.run("""UPDATE "Order" SET "from" = 'z' WHERE "select" = 'b'""", """DELETE FROM "Order" WHERE "select" = 'a'""")
    shop.ingest()
    sent = shop.send()
    assert (sent["way"], sent["rows_updated"], sent["rows_deleted"]) == ("feed", 1, 1)
    assert shop.lake_rows() == table_rows(shop.target, "orders_copy", shop.columns) == [("1", "b", "z", "y")]


def test_names_that_no_table_of_the_lake_can_have_are_refused(make_shop: MakeShop):
    shop = make_shop(**SNAPSHOT)
    shop.run("CREATE TABLE odd (id int, _change_type text)")
    with pytest.raises(BadInputError, match="_change_type is a name that the change feed"):
        shop.ingest()


@on_postgresql
def test_names_that_differ_by_capitals_alone_are_refused(make_shop: MakeShop):
    shop = make_shop(**SNAPSHOT)
    shop.run('CREATE TABLE odd (id int, name text, "Name" text)')
    with pytest.raises(BadInputError, match="name and Name are one name to a Delta table"):
        shop.ingest()


def test_a_column_that_is_computed_has_its_type(make_shop: MakeShop):
    shop = make_shop(**SNAPSHOT)
    shop.run("CREATE TABLE odd (id int, twice int GENERATED ALWAYS AS (id * 2) STORED)", "INSERT INTO odd VALUES (4)")
    shop.ingest()
    assert column(shop, "twice") == ["8"]
    shop.send()


@on_postgresql
def test_what_is_no_number_arrives_as_each_target_can_hold_it(make_shop: MakeShop):
    shop = make_shop(**SNAPSHOT)
    shop.run("CREATE TABLE odd (id int, v float8)", "INSERT INTO odd VALUES (1, 'NaN'), (2, 'Infinity'), (3, '-0')")
    shop.ingest()
    shop.send()
    assert column(shop, "v") == ["nan", "inf", "-0"]
    shop.run("UPDATE odd SET v = 1 WHERE id = 1")
    shop.ingest()
    assert shop.send()["rows_updated"] == 1


def test_moments_beyond_the_calendar_are_refused_by_column_and_come_as_text_on_demand(make_shop: MakeShop):
    """The driver gives PostgreSQL's infinity as a moment long ago."""
    until = {"name": "until", "type": "string"}
    shop = make_shop(**SNAPSHOT)
    forever = "infinity" if is_postgres(shop) else "0000-01-01 00:00:00"
    shop.run("CREATE TABLE odd (id int, until timestamp)", f"INSERT INTO odd VALUES (1, '{forever}')")
    with pytest.raises(SourceError, match="until has a moment or day that is no year from 1 to 9999"):
        shop.ingest()
    shop = replace(shop, more={**SNAPSHOT, "columns": [until]})
    shop.ingest()
    assert column(shop, "until") == [forever]


@on_postgresql
def test_arrays_of_several_dimensions_are_refused_instead_of_flattened(make_shop: MakeShop):
    shop = make_shop(**SNAPSHOT)
    shop.run(
        "CREATE TABLE odd (id int, v text[])", "INSERT INTO odd VALUES (1, '[2:3]={x,NULL}'), (2, '{}'), (3, NULL)"
    )
    shop.ingest()
    assert column(shop, "v") == ["['x', None]", "[]", ""]
    shop.run("INSERT INTO odd VALUES (4, '{{a,b},{c,d}}')")
    with pytest.raises(LakehouseError, match="an array has several dimensions"):
        shop.ingest()


@on_sqlite
def test_words_for_truth_mean_what_they_say(make_shop: MakeShop):
    shop = make_shop(**SNAPSHOT)
    shop.run("CREATE TABLE odd (id int, v BOOLEAN)", "INSERT INTO odd VALUES (1, 'false'), (2, 'TRUE'), (3, 0), (4, 1)")
    shop.ingest()
    assert column(shop, "v") == ["0", "1", "0", "1"]
    shop.run("INSERT INTO odd VALUES (5, 'perhaps')")
    with pytest.raises(SourceError, match="the column v has values that are no boolean"):
        shop.ingest()


@pytest.mark.parametrize(
    ("more", "seen"),
    [
        ({"strategy": "id", "id": "v", "key": ["id"]}, "v, the id, is numeric"),
        ({"strategy": "timestamp", "timestamp": "w", "key": ["id"]}, "w, the timestamp, is text"),
        ({"strategy": "snapshot", "key": ["b"]}, "b, of the key, is (bytea|blob)"),
    ],
)
def test_what_rows_cannot_be_compared_by_is_refused_before_anything_is_read(
    make_shop: MakeShop, more: dict[str, Any], seen: str
):
    shop = make_shop(table="odd", **more)
    shop.run(f"CREATE TABLE odd (id int, v numeric, w text, b {'bytea' if is_postgres(shop) else 'blob'})")
    with pytest.raises(BadInputError, match=f"(?i){seen}"):
        shop.ingest()


def test_an_id_that_the_source_keeps_as_numeric_counts_once_it_is_said_to_be_whole(make_shop: MakeShop):
    kinds = [{"name": "id", "type": "bigint"}]
    shop = make_shop(table="odd", strategy="id", id="id", key=["id"], columns=kinds)
    shop.run("CREATE TABLE odd (id numeric)", "INSERT INTO odd VALUES (1), (5)")
    shop.ingest()
    shop.run("INSERT INTO odd VALUES (6), (3)")
    assert shop.ingest().rows_late == 1
    assert sorted(column(shop, "id")) == ["1", "3", "5", "6"]


@on_postgresql
def test_rows_of_the_present_day_come_as_they_are_written_where_the_cursor_is_a_day(make_shop: MakeShop):
    """The mark stays at the day's beginning until it is over; without a search for gaps nothing else finds them."""
    more = {"strategy": "timestamp", "timestamp": "day", "key": ["id"], "gaps": "off"}
    shop = make_shop(table="odd", clock="SELECT now FROM clock", **more)
    shop.run("CREATE TABLE odd (id int, day date)", "CREATE TABLE clock (now timestamptz)")
    shop.run("INSERT INTO odd VALUES (1, '2026-03-01')", "INSERT INTO clock VALUES ('2026-03-01 09:00+00')")
    shop.ingest()
    shop.run("INSERT INTO odd VALUES (2, '2026-03-01')", "UPDATE clock SET now = '2026-03-01 10:00+00'")
    assert shop.ingest().count("rows_inserted") == 1
    shop.run(
        "INSERT INTO odd VALUES (3, '2026-03-01'), (4, '2026-03-02')", "UPDATE clock SET now = '2026-03-02 10:00+00'"
    )
    assert shop.ingest().count("rows_inserted") == 2
    assert shop.ingest().writes == ()


def test_a_cursor_comes_along_where_only_some_columns_are_wanted(make_shop: MakeShop):
    shop = make_shop(strategy="timestamp", timestamp="updated_at", only_columns=True, columns=[{"name": "customer"}])
    shop.add(1)
    shop.cycle()
    shop.add(2)
    shop.cycle()
    assert shop.columns == ["id", "customer", "updated_at"]
