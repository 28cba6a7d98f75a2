"""Prices with window functions: change to the day before, mean of some days, place within the day."""

import pytest

from lakehouse_assets_tests.gauntlet.journey import Journey

INGEST = """
files:
  - name: prices
    path: ${DATA}/prices/*.csv
    format: csv
    columns: [{name: day, type: date}, {name: price, type: double}]
  - {name: tickers, path: "${DATA}/tickers.csv", format: csv}
"""
MOVES = """
key: [ticker, day]
from: prices
steps:
  - {do: select, columns: [ticker, day, price]}
  - {do: difference, column: price, by: [ticker], order: [day], into: change}
  - {do: running, column: price, measure: avg, by: [ticker], order: [day], into: mean_2, rows: 2}
  - {do: rank, by: [day], order: [price desc], into: place, method: rank}
"""
BEST = """
/* model
key: [ticker]
*/
SELECT ticker, day FROM (
  SELECT ticker, day, ROW_NUMBER() OVER (PARTITION BY ticker ORDER BY price DESC, day) AS n FROM prices
) AS ranked WHERE n = 1
"""
NAMES = """
/* model
key: [ticker]
*/
SELECT ticker, name FROM tickers
"""


@pytest.mark.slow
def test_how_prices_move(project: Journey):
    project.write("ingest/prices.yaml", INGEST)
    project.write("models/moves.model.yaml", MOVES)
    project.write("models/best.sql", BEST)
    project.write("models/names.sql", NAMES)
    project.write("data/tickers.csv", "ticker,name\na,Acme\nb,Bolt\n")
    project.write("data/prices/1.csv", "ticker,day,price\na,2026-01-01,10\na,2026-01-02,12.5\nb,2026-01-01,7\n")
    query = "SELECT ticker, day, change, mean_2, place FROM moves ORDER BY ALL"
    first = [("a", "2026-01-01", None, 10.0, 1), ("a", "2026-01-02", 2.5, 11.25, 1), ("b", "2026-01-01", None, 7.0, 2)]
    project.goes(
        query,
        first,
        change=lambda: project.write("data/prices/2.csv", "ticker,day,price\nb,2026-01-02,20\n"),
        landed={"prices": 1},
        models=("best", "moves"),
        then=[first[0], ("a", "2026-01-02", 2.5, 11.25, 2), first[2], ("b", "2026-01-02", 13.0, 13.5, 1)],
    )
    assert project.ask("SELECT day FROM best ORDER BY ticker") == [("2026-01-02",), ("2026-01-02",)]
