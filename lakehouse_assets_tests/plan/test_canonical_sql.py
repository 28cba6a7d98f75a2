"""One canonical text for all spellings of a query, and another for every other meaning."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import serde

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.plan.canonical_sql import canonical_sql, canonical_tree

QUERY = """SELECT e.path, count(*) AS calls FROM {edges} AS e JOIN {nodes} AS n ON e.repo = n.repo
WHERE a OR b AND c GROUP BY e.path"""


@pytest.mark.parametrize(
    "spelled",
    [
        """select e.path, count(*) as calls
             from {edges} as e
             join {nodes} as n on e.repo = n.repo where a or b and c group by e.path""",
        """SELECT e.path, /* how many */ count(*) AS calls FROM {edges} AS e -- all
           JOIN {nodes} AS n ON e.repo = n.repo WHERE a OR b AND c GROUP BY e.path""",
        """SELECT E.Path, COUNT(*) calls FROM {edges} e INNER JOIN {nodes} n ON e.repo = n.repo
           WHERE a OR b AND c GROUP BY e.path""",
        """SELECT "e"."path", count(*) AS "calls" FROM {edges} AS e JOIN {nodes} AS n ON e.repo = n.repo
           WHERE a OR b AND c GROUP BY e.path""",
        """SELECT (e.path), (count(*)) AS calls FROM {edges} AS e JOIN {nodes} AS n ON ((e.repo) = n.repo)
           WHERE (a OR (b AND (c))) GROUP BY e.path""",
        """(SELECT e.path, count(*) AS calls FROM edges AS e JOIN nodes AS n ON e.repo = n.repo
           WHERE a OR b AND c GROUP BY e.path)""",
    ],
    ids=["layout", "comments", "case and AS", "quotes", "parentheses", "around all, without braces"],
)
def test_spelling_makes_no_difference(spelled: str):
    assert canonical_sql(spelled) == canonical_sql(QUERY)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a OR b AND c", "(a OR b) AND c"),
        ("a OR b AND c", "a OR b"),
        ("count(*)", "count(e.path)"),
        ("count(*)", "count(DISTINCT e.path)"),
        ("JOIN", "LEFT JOIN"),
        ("e.repo = n.repo", "e.repo <> n.repo"),
        ("AS calls", "AS callers"),
        ("{nodes}", "{definitions}"),
        ("SELECT", "SELECT DISTINCT"),
    ],
)
def test_meaning_does(old: str, new: str):
    assert canonical_sql(QUERY.replace(old, new, 1)).fingerprint != canonical_sql(QUERY).fingerprint


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT 1 UNION ALL (SELECT 2)", "SELECT 1 UNION ALL SELECT 2"),
        ("SELECT a FROM (((SELECT 1 AS a)))", "SELECT a FROM (SELECT 1 AS a)"),
        ("SELECT 1 WHERE a AND (b AND c)", "SELECT 1 WHERE (a AND b) AND c"),
        ("SELECT a FROM t ORDER BY a ASC", "SELECT a FROM t ORDER BY a"),
        ("SELECT 1 FROM t LEFT OUTER JOIN u USING (a)", "SELECT 1 FROM t LEFT JOIN u USING (a)"),
        ("SELECT x::INT, a != b", "SELECT CAST(x AS integer), a <> b"),
        ("SELECT my_function(a)", "SELECT MY_FUNCTION(a)"),
        ("SELECT 1 WHERE NOT a IN (1)", "SELECT 1 WHERE (a NOT IN (1))"),
        ("SELECT 1 WHERE (a LIKE 'x!%' ESCAPE '!')", "SELECT 1 WHERE a LIKE 'x!%' ESCAPE '!'"),
    ],
)
def test_these_are_the_same(one: str, other: str):
    assert canonical_sql(one) == canonical_sql(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT 1 UNION (SELECT 2 UNION ALL SELECT 2)", "SELECT 1 UNION SELECT 2 UNION ALL SELECT 2"),
        ("SELECT 1 UNION ALL (SELECT 2 LIMIT 0)", "SELECT 1 UNION ALL SELECT 2 LIMIT 0"),
        ("SELECT a - (b - c)", "SELECT a - b - c"),
        ("SELECT (a).b FROM t", "SELECT a.b FROM t"),
        ("SELECT 'A'", "SELECT 'a'"),
        ("SELECT NOT (a AND b)", "SELECT NOT a AND b"),
        ("SELECT (a = b) = c", "SELECT a = (b = c)"),
    ],
)
def test_these_are_not(one: str, other: str):
    assert canonical_sql(one).text != canonical_sql(other).text


def test_the_same_text_in_another_dialect_is_another_query():
    text = r"SELECT 'a\'"
    assert (
        canonical_sql(text.replace("\\'", "'")).fingerprint != canonical_sql("SELECT 'a'", dialect="spark").fingerprint
    )


def test_the_tree_can_be_loaded_back():
    form = canonical_sql(QUERY)
    assert serde.load(json.loads(form.tree)) == canonical_tree(QUERY)
    assert "_meta" not in form.tree


@pytest.mark.parametrize(
    ("text", "seen"), [("SELEC 1", "Invalid"), ("SELECT 1; SELECT 2", "2 statements"), ("", "0 stat")]
)
def test_what_is_no_query_is_refused(text: str, seen: str):
    with pytest.raises(BadInputError, match=f"step a: .*{seen}"):
        canonical_sql(text, subject="step a")


NUMBERS = st.recursive(
    st.integers(0, 3).map(str),
    lambda inner: (
        st.builds(lambda op, a, b: f"({a} {op} {b})", st.sampled_from("+-*"), inner, inner)
        | inner.map(lambda a: f"(- {a})")
    ),
    max_leaves=5,
)
TRUTHS = st.recursive(
    st.builds(lambda op, a, b: f"({a} {op} {b})", st.sampled_from(["=", "<", "<>", ">="]), NUMBERS, NUMBERS)
    | st.builds(lambda a, b, c: f"({a} BETWEEN {b} AND {c})", NUMBERS, NUMBERS, NUMBERS)
    | st.builds(lambda a, b: f"({a} IN ({b}, 2))", NUMBERS, NUMBERS),
    lambda inner: (
        st.builds(lambda op, a, b: f"({a} {op} {b})", st.sampled_from(["AND", "OR", "="]), inner, inner)
        | inner.map(lambda a: f"(NOT {a})")
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(truth=TRUTHS, number=NUMBERS)
def test_the_canonical_text_has_the_same_value_and_is_its_own_canonical_text(truth: str, number: str):
    written = f"SELECT {truth} AS truth, {number} AS amount"
    form = canonical_sql(written)
    with local_sql() as connection:
        assert connection.execute(form.text).fetchall() == connection.execute(written).fetchall()
    assert canonical_sql(form.text) == form
    assert form.text.count("(") <= written.count("(")
