"""Numbers that are kept as text are passed on and cast, and never compared letter by letter."""

import pytest

from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets_tests.support.models import model_text, project

ORDERS = TableContract(
    name="orders",
    description="One row per order.",
    columns=(
        Column(name="id", type="bigint", description="Which."),
        Column(name="amount", type="string", number=True, nullable=True, description="How much."),
        Column(name="name", type="string", nullable=True, description="Whose."),
    ),
    key=("id",),
    strategy="upsert",
)
TABLES = {"orders": ORDERS}


def model(sql: str, **more: str) -> str:
    return model_text(sql, key="[id]", **more)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 AS id, MAX(amount) AS m FROM orders",
        "SELECT 1 AS id, SUM(amount) AS m FROM orders",
        "SELECT id FROM orders WHERE amount > '9'",
        "SELECT id FROM orders WHERE amount BETWEEN 1 AND 2",
        "SELECT id FROM orders WHERE amount IN ('1', '2')",
        "SELECT id FROM orders WHERE COALESCE(amount, '0') = '1.0'",
        "SELECT id, amount * 2 AS twice FROM orders",
        "SELECT id, GREATEST(amount, '5') AS most FROM orders",
        "SELECT id, ROW_NUMBER() OVER (ORDER BY amount) AS n FROM orders",
        "SELECT COUNT(DISTINCT amount) AS id FROM orders",
        "SELECT COUNT(*) AS id FROM orders GROUP BY amount",
        "SELECT a.id FROM orders AS a JOIN orders AS b ON a.amount = b.amount",
        "SELECT id FROM orders AS a WHERE EXISTS (SELECT 1 FROM orders AS b WHERE b.name < a.amount)",
        "WITH some AS (SELECT * FROM orders) SELECT 1 AS id, MIN(price) AS m FROM (SELECT amount AS price FROM some)",
        "SELECT 1 AS id, MAX(x) AS m FROM (SELECT name AS x FROM orders UNION ALL SELECT amount FROM orders)",
        "SELECT DISTINCT id, amount FROM orders",
        "SELECT id FROM orders WHERE name IN (SELECT amount FROM orders)",
        "SELECT id FROM orders WHERE '5' < (SELECT ANY_VALUE(amount) FROM orders)",
        "SELECT id, amount FROM orders ORDER BY 2 LIMIT 1",
        "SELECT id, amount AS price FROM orders ORDER BY price LIMIT 1",
        "SELECT amount AS id, COUNT(*) AS n FROM orders GROUP BY 1",
        "SELECT id, amount FROM orders UNION SELECT 2, '2.0'",
        "SELECT id, amount FROM orders EXCEPT SELECT 2, '2.0'",
        "SELECT 1 AS id, MAX(STRUCT(amount, id)).id AS m FROM orders",
        "WITH some (a, b) AS (SELECT id, amount FROM orders) SELECT 1 AS id, MAX(b) AS m FROM some",
        "SELECT 1 AS id, MAX(b) AS m FROM (SELECT id, amount FROM orders) AS some (a, b)",
    ],
)
def test_a_query_that_would_compare_numbers_as_text_is_refused_with_the_cast(sql: str):
    with pytest.raises(BadInputError, match="as text") as raised:
        project(TABLES, m=model(sql))
    assert "AS DOUBLE)" in raised.value.remedy
    assert raised.value.subject == "m.sql:4"


@pytest.mark.parametrize("join", ["JOIN orders AS b USING (amount)", "NATURAL JOIN orders AS b"])
def test_a_join_by_names_alone_that_would_compare_numbers_as_text_is_refused(join: str):
    with pytest.raises(BadInputError, match="holds numbers of its source"):
        project(TABLES, m=model(f"SELECT a.id FROM orders AS a {join}"))


@pytest.mark.parametrize(
    ("sql", "passed_on"),
    [
        ("SELECT id, amount FROM orders", {"amount"}),
        ("SELECT id, COALESCE(amount, '0') AS price FROM orders", {"price"}),
        ("SELECT id, LAG(amount) OVER (ORDER BY id) AS before FROM orders", {"before"}),
        ("SELECT id, CAST(amount AS DOUBLE) AS amount FROM orders WHERE amount IS NOT NULL", set()),
        ("SELECT 1 AS id, MAX(CAST(amount AS DECIMAL(38, 9))) AS m, COUNT(amount) AS n FROM orders", set()),
        ("SELECT id, MAX(name) AS name FROM orders GROUP BY id", set()),
        ("SELECT DISTINCT id, name FROM orders", set()),
        ("SELECT id, (SELECT ANY_VALUE(amount) FROM orders) AS any FROM orders AS a", {"any"}),
        ("SELECT id, amount FROM orders UNION ALL SELECT id, name FROM orders", {"amount"}),
        ("SELECT id FROM orders AS a WHERE EXISTS (SELECT amount FROM orders AS b WHERE b.id > a.id)", set()),
        ("SELECT a.id, b.amount FROM orders AS a JOIN orders AS b USING (id) ORDER BY 1 LIMIT 1", {"amount"}),
    ],
)
def test_what_a_query_passes_on_or_casts_is_taken_and_what_it_passes_on_is_known(sql: str, passed_on: set[str]):
    assert project(TABLES, m=model(sql)).meanings["m"].numbers == passed_on


def test_what_a_model_passes_on_is_refused_in_the_next_one():
    with pytest.raises(BadInputError, match="holds numbers of its source"):
        project(TABLES, first=model("SELECT id, amount AS a FROM orders"), then=model("SELECT MAX(a) AS id FROM first"))


@pytest.mark.parametrize("audit", ["at_least: {amount: 0}", "own: SELECT * FROM this WHERE amount < '0'"])
def test_an_audit_that_would_compare_numbers_as_text_is_refused(audit: str):
    with pytest.raises(BadInputError, match="holds numbers of its source"):
        project(TABLES, m=model("SELECT id, amount FROM orders", audits=f"\n  - {audit}"))
