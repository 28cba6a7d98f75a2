"""Bills as free text: one file a bill, its sums found by patterns; a file that is no bill is set aside."""

import pytest

from lakehouse_assets_tests.gauntlet.journey import Journey

INGEST = r"""
files:
  - {name: bills, path: "${DATA}/bills/*.txt", format: text}
  - name: bill_lines
    path: ${DATA}/bills/*.txt
    format: text
    pattern: '(?m)^\s*(?P<quantity>\d+) x (?P<thing>.+?)\s+(?P<euros>\d+)\.(?P<cents>\d\d)$'
    columns: [{name: quantity, type: int}, {name: euros, type: bigint}, {name: cents, type: bigint}]
  - {name: suppliers, path: "${DATA}/suppliers.csv", format: csv}
"""
BILLS = r"""
key: [number]
from: bills
steps:
  - {do: extract, column: text, pattern: 'Bill no\. (?P<number>\w+)'}
  - {do: extract, column: text, pattern: 'dated (?P<dated>\d\d\.\d\d\.\d{4})'}
  - {do: extract, column: text, pattern: 'Total:? EUR (?P<total>[\d.]+)'}
  - {do: parse_time, column: dated, format: dd.MM.yyyy, into: day, type: date}
  - {do: cast, columns: {total: double}}
  - {do: select, columns: [number, day, total, source]}
"""
CHECKED = """
/* model
description: Bills whose lines do not come to their total.
key: [number]
*/
SELECT b.number, b.total, SUM(l.quantity * (l.euros * 100 + l.cents)) AS cents
FROM bill_sums AS b JOIN bill_lines AS l ON l.source = b.source
GROUP BY b.number, b.total
HAVING ROUND(b.total * 100) <> SUM(l.quantity * (l.euros * 100 + l.cents))
"""
SUPPLIERS = """
/* model
key: [name]
*/
SELECT name FROM suppliers
"""


def bill(number: str, total: str, *lines: str) -> str:
    listed = "\n".join(f"  {line}" for line in lines)
    return f"Dear customer,\n\nBill no. {number} dated 05.01.2026\n{listed}\n\nTotal: EUR {total}\nThank you!\n"


@pytest.mark.slow
def test_bills_that_do_not_add_up(project: Journey):
    project.write("ingest/bills.yaml", INGEST)
    project.write("models/bill_sums.model.yaml", BILLS)
    project.write("models/wrong_bills.sql", CHECKED)
    project.write("models/supplier_names.sql", SUPPLIERS)
    project.write("data/suppliers.csv", "name\nAcme\n")
    project.write("data/bills/1.txt", bill("A1", "25.50", "2 x blue pens   5.25", "1 x desk lamp  15.00"))
    project.write("data/bills/2.txt", bill("A2", "9.99", "3 x paper  3.00"))
    wrong = "(SELECT cents FROM wrong_bills AS w WHERE w.number = b.number)"
    query = f"SELECT number, day, total, {wrong} FROM bill_sums AS b ORDER BY number"
    first = [("A1", "2026-01-05", 25.5, None), ("A2", "2026-01-05", 9.99, 900)]
    project.goes(
        query,
        first,
        change=lambda: project.write("data/bills/3.txt", bill("A3", "1.00", "1 x pin 1.00")),
        landed={"bills": 1, "bill_lines": 1},
        models=("bill_sums", "wrong_bills"),
        then=[*first, ("A3", "2026-01-05", 1.0, None)],
    )
