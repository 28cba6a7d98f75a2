"""A shop's orders out of its database, and exchange rates over HTTP: what each day brought, in one currency."""

import json
import sqlite3
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlparse

import pytest

from lakehouse_assets_tests.gauntlet.journey import Journey

INGEST = """
connections:
  shop: {{kind: sqlite, path: shop.db}}
  reports: {{kind: sqlite, path: reports.db}}
ingest:
  - name: orders
    connection: shop
    table: orders
    key: [id]
    strategy: id
    id: id
http:
  - name: rates
    url: "{url}/rates"
    page_parameter: page
    records: data.rates
    per_second: 1000
    columns: [{{name: cents, type: int}}, {{name: day, type: date}}]
deliver:
  - {{asset: orders, connection: reports, table: orders}}
"""
REVENUE = """
/* model
description: One row per day with its revenue in hundredths of a cent.
key: [day]
audits: [{at_least: {revenue: 0}}]
*/
SELECT orders.day, SUM(orders.amount * COALESCE(rates.cents, 100)) AS revenue, COUNT(*) AS orders
FROM orders LEFT JOIN rates ON rates.currency = orders.currency AND rates.day = orders.day
GROUP BY orders.day
"""
CURRENCIES = """
/* model
key: [currency]
*/
SELECT currency, COUNT(*) AS days FROM rates GROUP BY currency
"""


class _Bank(BaseHTTPRequestHandler):
    rates: ClassVar[list[dict[str, Any]]] = []

    def do_GET(self) -> None:
        page = int(parse_qs(urlparse(self.path).query)["page"][0])
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"data": {"rates": self.rates[(page - 1) * 2 : page * 2]}}).encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name that its caller uses
        """Quiet."""


@pytest.fixture
def bank() -> Iterator[str]:
    _Bank.rates = [{"currency": "EUR", "cents": 110, "day": f"2026-01-0{day}"} for day in (1, 2, 3)]
    held = ThreadingHTTPServer(("127.0.0.1", 0), _Bank)
    threading.Thread(target=held.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{held.server_port}"
    held.shutdown()
    held.server_close()


def sell(database: Path, *orders: tuple[int, str, str, int]) -> None:
    with sqlite3.connect(database) as held:
        held.execute("CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, day DATE, currency TEXT, amount INT)")
        held.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", orders)
    held.close()


@pytest.mark.slow
def test_orders_in_one_currency(project: Journey, bank: str):
    project.write("ingest/shop.yaml", INGEST.format(url=bank))
    project.write("models/revenue.sql", REVENUE)
    project.write("models/currencies.sql", CURRENCIES)
    shop = project.folder / "shop.db"
    sell(shop, (1, "2026-01-01", "EUR", 10), (2, "2026-01-01", "USD", 5), (3, "2026-01-02", "EUR", 1))
    project.goes(
        "SELECT day, revenue, orders FROM revenue ORDER BY day",
        [("2026-01-01", 1600, 2), ("2026-01-02", 110, 1)],
        change=lambda: sell(shop, (4, "2026-01-02", "EUR", 2)),
        landed={"orders": 1},
        models=("revenue",),
        then=[("2026-01-01", 1600, 2), ("2026-01-02", 330, 2)],
    )
    with sqlite3.connect(project.folder / "reports.db") as held:
        assert held.execute("SELECT count(*), sum(amount) FROM orders").fetchone() == (4, 18)
    held.close()
    _Bank.rates += [{"currency": "CHF", "cents": 105, "day": "2026-01-03"}]
    done = project.run()
    assert (dict(done.landed), set(done.models)) == ({"rates": 1}, {"revenue", "currencies"})
