"""What a run of an ingest would read: decided without a database."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from lakehouse_assets.contracts.ingest import Ingest
from lakehouse_assets.core.errors import BadInputError, LakeStateError
from lakehouse_assets.plan.ingest_plan import IngestPlan, SourceFacts, plan_ingest
from lakehouse_assets.plan.marks import Mark, read_mark
from lakehouse_assets.plan.source_sql import TextShape, parameters_in, with_values

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ORDERS = Ingest(
    name="orders", connection="shop", table="public.orders", key=("id",), strategy="timestamp", timestamp="at"
)
FACTS = SourceFacts(kind="postgresql", now=NOON, columns="c", snapshot="70:75:70,72", has_transaction_ids=True)
MARK = Mark(timestamp=NOON - timedelta(hours=1), clock=NOON - timedelta(hours=1), snapshot="60:65:60", columns="c")


def plan(ingest: Ingest = ORDERS, facts: SourceFacts = FACTS, mark: Mark | None = MARK, **options: bool) -> IngestPlan:
    return plan_ingest(ingest, {"id": '"id"', "at": '"at"'}, facts, mark, has_rows=True, **options)


def test_a_window_is_half_open_and_looks_behind_the_mark_by_transaction():
    assert plan().query == (
        'SELECT "id" AS "id", "at" AS "at" FROM "public"."orders" WHERE "at" < '
        "TIMESTAMPTZ '2026-03-01 12:00:00.000000+00' AND "
        "(\"at\" >= TIMESTAMPTZ '2026-03-01 11:00:00.000000+00' OR age(xmin) <= age('60'::xid))"
    )
    assert plan().mark.timestamp == NOON


def test_an_open_transaction_holds_the_mark_back_but_not_the_rows():
    held = plan(facts=replace(FACTS, oldest_open=NOON - timedelta(minutes=5)))
    assert held.mark.timestamp == NOON - timedelta(minutes=5)
    assert "12:00:00" in held.query
    assert "holds the mark back" in held.warnings[0]


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (replace(FACTS, now=NOON - timedelta(hours=2)), "clock went back"),
        (replace(FACTS, columns="other"), "other columns"),
        (replace(FACTS, snapshot="10:11:"), "restored"),
        (replace(FACTS, snapshot=f"{2**31 + 70}:{2**31 + 75}:"), "more transactions"),
    ],
)
def test_what_makes_the_window_doubtful_makes_the_run_read_everything(facts: SourceFacts, reason: str):
    found = plan(facts=facts)
    assert found.mode == "everything"
    assert reason in found.reason
    assert not found.deletes_missing
    assert ">=" not in found.query


def test_the_plan_prints_the_window_the_mark_and_the_query_with_its_values():
    printed = str(plan())
    assert ":mark = 2026-03-01T11:00:00+00:00, :until = 2026-03-01T12:00:00+00:00" in printed
    assert "from 2026-03-01T11:00:00+00:00 to 2026-03-01T12:00:00+00:00" in printed
    assert plan().query in printed


def test_a_mark_is_read_as_it_was_written_and_nothing_else_is_taken_for_one():
    assert read_mark(MARK.text) == MARK
    assert read_mark("") is None
    with pytest.raises(LakeStateError, match="is not a mark"):
        read_mark('{"commit": "abc"}')


def test_parameters_stand_outside_of_texts_names_comments_and_casts():
    query = "SELECT ':a', \":b\", x::date /* :c */ FROM t -- :d\nWHERE x >= :mark"
    assert parameters_in(query) == {"mark"}
    assert with_values(query, {"mark": "1"}, subject="q").endswith("x >= 1")
    with pytest.raises(BadInputError, match="has :mark, which is none of :until"):
        with_values(query, {"until": "1"}, subject="q")


@pytest.mark.parametrize(
    ("example", "written"),
    [
        ("2026-01-01 00:00:00", "2026-03-01 12:00:00"),
        ("2026-01-01T00:00:00.5Z", "2026-03-01T12:00:00.9Z"),
        ("2026-01-01 00:00:00.123+00:00", "2026-03-01 12:00:00.987+00:00"),
    ],
)
def test_a_bound_is_written_as_the_column_is(example: str, written: str):
    assert TextShape(example).render(NOON.replace(microsecond=987654, tzinfo=None)) == written


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ({"strategy": "id"}, "goes by id"),
        ({"strategy": "snapshot", "timestamp": "at"}, "compares all rows"),
        ({"strategy": "append", "timestamp": "at", "id": "id"}, "give one of them"),
        ({"strategy": "timestamp", "timestamp": "at", "table": None}, "either a table or a first_query"),
        ({"strategy": "id", "id": "id", "columns": [{"name": "id", "sensitive": True}]}, "cannot be the cursor"),
        ({"strategy": "id", "id": "id", "name": "edges"}, "is a table of the code graph"),
    ],
)
def test_an_ingest_that_cannot_work_is_refused(more: dict[str, object], complaint: str):
    given = {"name": "orders", "connection": "shop", "table": "orders", "key": ["id"], **more}
    with pytest.raises(ValidationError, match=complaint):
        Ingest.model_validate(given)
