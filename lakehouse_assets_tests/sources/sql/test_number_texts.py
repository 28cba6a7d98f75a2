"""Exact numbers of a database come as text, and what is asked of them is what the database answers, or refused."""

from typing import Any

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.query import ask, tables_now
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.sources.sql.ingested import stored_contract
from lakehouse_assets_tests.sources.sql.conftest import MakeShop
from lakehouse_assets_tests.support.shops import Shop, table_rows


def asked(shop: Shop, query: str) -> list[tuple[Any, ...]]:
    lake = Lake(shop.settings.lake)
    contract = stored_contract(lake, shop.project.ingest[0])
    assert contract is not None
    with ask(lake, query, tables_now(lake, query, [contract])) as answer:
        return [tuple(row.values()) for row in answer.rows]


def test_the_largest_of_a_databases_exact_numbers_is_the_databases_or_refused(make_shop: MakeShop):
    shop = make_shop(strategy="snapshot", table="odd", key=["id"])
    shop.run("CREATE TABLE odd (id int, amount numeric(20, 4), note text)")
    shop.run("INSERT INTO odd VALUES (1, 99999.4380, 'b'), (2, 123450, 'a'), (3, NULL, NULL)")
    for _ in range(2):  # the second run finds the table marked
        shop.ingest()
        for wrong in ("max(amount)", "sum(amount)"):
            with pytest.raises(BadInputError, match="holds numbers of its source"):
                asked(shop, f"SELECT {wrong} FROM shop_orders")
        with pytest.raises(BadInputError, match="holds numbers of its source"):
            asked(shop, "SELECT id FROM (SELECT * FROM shop_orders) ORDER BY amount")
        ((most, note),) = asked(shop, "SELECT max(CAST(amount AS DECIMAL(38, 4))), max(note) FROM shop_orders")
        shop.run("CREATE TABLE IF NOT EXISTS most (amount numeric(20, 4))", "DELETE FROM most")
        shop.run("INSERT INTO most SELECT max(amount) FROM odd")
        ((there,),) = table_rows(shop.source, "most", ["amount"])
        assert (float(most), note) == (float(there), "b")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, amount FROM shop_orders ORDER BY 2",
        "FROM shop_orders ORDER BY ALL",
        "SELECT amount, count(*) FROM shop_orders GROUP BY ALL",
        "SELECT amount AS a FROM shop_orders ORDER BY a",
        "SELECT max(COLUMNS('am.*')) FROM shop_orders",
        "SELECT max(b) FROM shop_orders AS t(a, b)",
        "SELECT max(o) FROM shop_orders AS o",
        "SELECT histogram(amount) FROM shop_orders",
        "SELECT * FROM shop_orders AS a JOIN shop_orders AS b USING (amount)",
        "SUMMARIZE shop_orders",
        "SUMMARIZE SELECT amount FROM shop_orders",
    ],
)
def test_a_query_that_compares_a_number_without_naming_it_is_refused(make_shop: MakeShop, query: str):
    shop = make_shop(strategy="snapshot", table="odd", key=["id"])
    shop.run("CREATE TABLE odd (id int, amount numeric(20, 4))", "INSERT INTO odd VALUES (1, 99.5), (2, 123)")
    shop.ingest()
    with pytest.raises(BadInputError, match="holds numbers of its source"):
        asked(shop, query)
    assert asked(shop, "SELECT id, CAST(amount AS DOUBLE) AS x FROM shop_orders ORDER BY ALL") == [(1, 99.5), (2, 123)]


def test_marking_numbers_commits_once_and_the_feed_goes_on(make_shop: MakeShop):
    shop = make_shop(strategy="snapshot", table="odd", key=["id"])
    shop.run("CREATE TABLE odd (id int, amount decimal(10, 2))", "INSERT INTO odd VALUES (1, 1.50)")
    shop.ingest()
    shop.send()
    shop.run("INSERT INTO odd VALUES (2, 2.50)")
    shop.ingest()
    sent = shop.send()
    assert (sent["way"], sent["rows_inserted"]) == ("feed", 1)
    contract = stored_contract(Lake(shop.settings.lake), shop.project.ingest[0])
    assert contract is not None
    history = Lake(shop.settings.lake).open(contract).history()
    assert len([each for each in history if "METADATA" in each["operation"].upper()]) == 1
