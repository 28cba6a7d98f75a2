"""Batches that come in parts: what is told of them is told of the whole."""

from typing import Any

import pytest

from lakehouse_assets.lake import stream_stage
from lakehouse_assets.lake.batch import StreamedRows
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.scope import equal_scopes
from lakehouse_assets.plan.write_facts import Violation, WriteRequest
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.writes import THINGS, table_of, thing

REQUEST = WriteRequest(scopes=equal_scopes("repo", ["a"]), strategy="upsert", key="k")
GOOD = [thing("a", "x.py", f"f{number}") for number in range(7)]


@pytest.fixture(autouse=True)
def _short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_stage, "ROWS_A_PART", 3)


def violations(lake: Lake, rows: list[dict[str, Any]]) -> tuple[Violation, ...]:
    stream = StreamedRows(batches=iter(table_of(THINGS, rows).to_batches()))
    with stream_stage.stream_stage(stream, THINGS, REQUEST, lake.root) as staged:
        assert staged.facts.rows == len(rows)
        return staged.facts.violations


def test_parts_that_hold_are_told_and_leave_nothing_behind(lake: Lake):
    assert violations(lake, GOOD) == ()
    assert not list(local(lake.root).rglob("*.parquet"))


def test_what_parts_break_is_counted_over_all_and_a_key_in_two_of_them_is_found(lake: Lake):
    odd = [thing("a", "y.py", f"g{number}", kind="z") for number in range(5)]
    found = violations(lake, [*odd[:2], *GOOD, *odd[2:], GOOD[0], GOOD[0]])
    assert [(each.rule, each.rows) for each in found] == [
        ("kind is none of a, b", 5),
        ("the key stands more than once", 2),
    ]
    assert found[0].examples == tuple(f"(repo='a', path='y.py', name='g{number}')" for number in range(3))
    assert found[1].examples == ("(repo='a', path='x.py', name='f0')",)
