"""Which queries may run in DuckDB: those that mean the same there, and no others."""

import pytest

from lakehouse_assets.models.intervals import read_span
from lakehouse_assets.models.query import needs_spark, runnable, within
from lakehouse_assets_tests.support.models import FILES, project

TYPES = {FILES.name: {each.name: each.type for each in FILES.columns} | {"hash": "binary", "at": "timestamp"}}


def reason(sql: str) -> str | None:
    return needs_spark(project(m=sql).meanings["m"].sql, TYPES)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT repo, path, size + 1 AS size FROM files WHERE size > 0 AND path LIKE '%.py'",
        "SELECT repo, MAX(path) AS path, SUM(size) AS s, COUNT(DISTINCT path) AS n FROM files GROUP BY repo",
        "SELECT repo, path, size / 2 AS half, size / NULLIF(lines, 0) AS each FROM files",
        "SELECT repo, path, CASE WHEN size IS NULL THEN 0 ELSE size END AS s FROM files UNION ALL SELECT 'a', 'b', 1",
        "SELECT repo, path FROM files QUALIFY row_number() OVER (PARTITION BY repo ORDER BY path) = 1",
        "SELECT repo, path, CAST(lines AS BIGINT) AS lines FROM files",
        "SELECT repo, path FROM files WHERE EXISTS (SELECT 1 FROM files g WHERE g.size = 1)",
        "SELECT repo, path FROM files WHERE day >= '2026-01-31' OR day IN ('2026-01-01', NULL)",
        "SELECT repo, path, COALESCE(size, lines, 0) AS s, LENGTH(path) AS n FROM files WHERE path IN ('a', 'b')",
        "SELECT repo, path, CASE lines WHEN 1 THEN 'one' WHEN 2 THEN NULL ELSE path END AS s FROM files",
    ],
)
def test_what_means_the_same_needs_no_spark(sql: str):
    assert reason(sql) is None


@pytest.mark.parametrize(
    ("sql", "because"),
    [
        ("SELECT repo, path, size / lines AS each FROM files", "/"),
        ("SELECT repo, path, CAST(size AS STRING) AS size FROM files", "CAST"),
        ("SELECT repo, path, CONCAT(repo, path) AS c FROM files", "CONCAT"),
        ("SELECT repo, path, round(size / 3, 1) AS r FROM files", "ROUND"),
        ("SELECT repo, 'p' AS path, AVG(size) AS a FROM files GROUP BY repo", "AVG"),
        ("SELECT repo, 'p' AS path, SUM(size / 2) AS a FROM files GROUP BY repo", "SUM"),
        ("SELECT repo, path, size * 1.5 AS s FROM files", "1.5"),
        ("SELECT repo, path, explode(words) AS w FROM files", "EXPLODE"),
        ("SELECT repo, path FROM files WHERE path LIKE 'a\\\\_%'", "LIKE"),
        ("SELECT repo, path FROM files ORDER BY path LIMIT 1", "LIMIT"),
        ("SELECT repo, 'p' AS path, COUNT(DISTINCT path, size) AS n FROM files GROUP BY repo", "DISTINCT"),
        ("SELECT repo, path FROM files WHERE path > 100", "> 100"),
        ("SELECT repo, path FROM files WHERE day > '2026-1-1'", "'2026-1-1'"),
        ("SELECT repo, path FROM files WHERE day > path", ">"),
        ("SELECT repo, path FROM files WHERE size IN ('1', '2')", "IN"),
        ("SELECT repo, path FROM files WHERE size BETWEEN '1' AND '2'", "BETWEEN"),
        ("SELECT f.repo, f.path FROM files f JOIN files g ON f.path = g.size", "="),
        ("SELECT repo, path FROM files WHERE path IN (SELECT size FROM files)", "IN"),
        ("SELECT repo, path, COALESCE(path, size) AS c FROM files", "COALESCE"),
        ("SELECT repo, path, CASE WHEN size > 1 THEN path ELSE 0 END AS c FROM files", "CASE"),
        ("SELECT repo, path, path + 1 AS c FROM files", "+"),
        ("SELECT repo, path, day + 1 AS c FROM files", "+"),
        ("SELECT repo, path, LENGTH(size) AS c FROM files", "LENGTH"),
        ("SELECT repo, path, path AS c FROM files UNION ALL SELECT repo, path, size FROM files", "UNION"),
    ],
)
def test_what_may_differ_goes_to_spark_and_says_why(sql: str, because: str):
    assert because in str(reason(sql))


@pytest.mark.parametrize("sql", ["SELECT LENGTH(hash) AS n FROM files", "SELECT at > '2026-01-01' AS n FROM files"])
def test_functions_and_comparisons_that_duckdb_has_not_for_a_type_go_to_spark(sql: str):
    assert needs_spark(sql, TYPES) is not None


def test_the_columns_of_an_audit_are_known_without_their_table():
    assert needs_spark("SELECT * FROM files WHERE NOT path IN ('a') OR size < 2", TYPES) is None
    assert needs_spark("SELECT * FROM files WHERE path < 2", TYPES) is not None


def test_a_query_is_bound_to_the_names_and_partitions_that_an_engine_knows():
    sql = project(
        m="WITH f AS (SELECT repo, path FROM files) SELECT f.repo, g.path FROM f JOIN files g ON f.path = g.path"
    )
    bound = runnable(
        sql.meanings["m"].sql, {"files": "view_1"}, dialect="duckdb", only={"repo": ["a", "b"]}, of=["files"]
    )
    assert bound.count("FROM view_1 WHERE \"repo\" IN ('a', 'b')") == 2
    assert "files AS" not in bound.replace('"', "")


def test_a_join_in_parentheses_stays_whole():
    sql = "SELECT a.repo, c.path FROM files a LEFT JOIN (files b JOIN files c ON b.path = c.path) ON a.path = b.path"
    bound = runnable(project(m=sql).meanings["m"].sql, {"files": "here"}, dialect="duckdb")
    assert bound.count("here AS") == 3


def test_days_are_chosen_from_what_a_query_gives():
    spans = [read_span("2026-01-01..2026-01-03"), read_span("2026-02-01..2026-02-02")]
    sql = within("SELECT day FROM t", "day", spans, "spark")
    assert sql.endswith(
        "WHERE (`day` >= DATE '2026-01-01' AND `day` < DATE '2026-01-03')"
        " OR (`day` >= DATE '2026-02-01' AND `day` < DATE '2026-02-02')"
    )
