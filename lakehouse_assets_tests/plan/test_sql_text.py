from datetime import UTC, date, datetime, timedelta, timezone

import duckdb
import pytest

from lakehouse_assets.plan.sql_text import delta_name, in_list, literal, name, null_safe_equal


@pytest.mark.parametrize("text", ["", "it's", "''", "back\\slash", "\\'", "two\nlines", "ünï", "${HOME}", "100%"])
def test_a_text_read_back_by_duckdb_is_the_same(text: str):
    assert duckdb.execute(f"SELECT {literal(text, 'duckdb')}").fetchall() == [(text,)]


def test_spark_s_literals_escape_what_spark_would_read_into():
    assert literal("it's", "spark") == r"'it\'s'"
    assert literal("a\\", "spark") == r"'a\\'"
    assert literal("${env:HOME}", "spark") == r"'\u0024{env:HOME}'"


def test_moments_are_written_in_utc_whatever_their_zone_and_year():
    moment = datetime(2024, 1, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert literal(moment, "spark") == "TIMESTAMP '2023-12-31 23:30:00.000000+00:00'"
    assert literal(moment, "duckdb") == "TIMESTAMPTZ '2023-12-31 23:30:00.000000+00:00'"
    assert "2023-12-31 23:30:00.000000Z" in literal(moment, "datafusion")
    assert literal(datetime(1, 2, 3, tzinfo=UTC), "spark") == "TIMESTAMP '0001-02-03 00:00:00.000000+00:00'"


def test_numbers_truths_and_days_are_no_texts():
    assert in_list("c", [-1, True, date(2024, 2, 29)], "spark") == "c IN (-1, TRUE, DATE '2024-02-29')"


@pytest.mark.parametrize("number", [0.1 + 0.2, -1e-300, 1e300, float("inf"), float("-inf")])
def test_a_number_read_back_by_duckdb_is_the_same(number: float):
    assert duckdb.execute(f"SELECT CAST({literal(number, 'duckdb')} AS DOUBLE)").fetchall() == [(number,)]


def test_nothing_is_null_and_a_moment_without_a_zone_is_utc():
    assert literal(None, "spark") == "NULL"
    assert literal(datetime(2026, 1, 1), "spark") == literal(datetime(2026, 1, 1, tzinfo=UTC), "spark")  # noqa: DTZ001


def test_names_are_quoted_as_each_engine_quotes():
    assert name("a`b", "spark") == "`a``b`"
    assert name('a"b', "duckdb") == '"a""b"'
    assert delta_name("/la`ke") == "delta.`/la``ke`"


def test_null_is_equal_to_null():
    assert null_safe_equal("a", "b", "spark") == "a <=> b"
    same = null_safe_equal("NULL", "NULL", "duckdb")
    assert duckdb.execute(f"SELECT {same}").fetchall() == [(True,)]
