"""Steps over contracts and over each other."""

from pathlib import Path

import pytest

from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.plan import step_analysis
from lakehouse_assets.plan.kept import Kept
from lakehouse_assets.plan.relational_step import RelationalStep, over
from lakehouse_assets.plan.sql_lineage import Source
from lakehouse_assets.plan.step_analysis import analysis_of, lineage_of


def contract(name: str, *columns: str) -> TableContract:
    described = tuple(Column(name=each, type="string", description="") for each in columns)
    return TableContract(name=name, description="", columns=described, key=columns[:1], strategy="upsert")


CALLS = contract("calls", "caller", "callee")
FIRST = RelationalStep(name="first", sql="SELECT callee AS who FROM {calls}", inputs=over(CALLS))
NEXT = RelationalStep(
    name="next",
    sql="SELECT c.caller AS who FROM {calls} AS c JOIN {frontier} AS f ON f.who = c.callee",
    inputs=over(CALLS, frontier=FIRST),
)


def test_a_step_s_lineage_leads_through_other_steps_to_contracts():
    both = RelationalStep(name="both", sql="SELECT who AS person FROM {found}", inputs=over(found=(FIRST, NEXT)))
    assert analysis_of(both).lineage == {"person": (Source("found", "who"),)}
    assert lineage_of(both) == {"person": (Source("calls", "callee"), Source("calls", "caller"))}


def test_a_step_runs_over_the_names_that_an_engine_gives():
    assert NEXT.text({"calls": "t1", "frontier": "t2"}).endswith("FROM t1 AS c JOIN t2 AS f ON f.who = c.callee")


def test_a_step_may_read_what_it_names_and_nothing_else():
    step = RelationalStep(
        name="bad", sql="SELECT 1 AS one FROM {calls} JOIN {others} USING (caller)", inputs=over(CALLS)
    )
    with pytest.raises(BadInputError, match="step bad: 'others' is no relation"):
        analysis_of(step)


def test_a_step_gives_columns_of_its_output():
    people = contract("people", "name")
    step = RelationalStep(name="bad", sql="SELECT caller AS nme FROM {calls}", inputs=over(CALLS), output=people)
    with pytest.raises(BadInputError, match="it gives nme, which people has not"):
        analysis_of(step)


def test_steps_with_different_columns_cannot_stand_together():
    other = RelationalStep(name="other", sql="SELECT caller FROM {calls}", inputs=over(CALLS))
    step = RelationalStep(name="bad", sql="SELECT * FROM {found}", inputs=over(found=(FIRST, other)))
    with pytest.raises(BadInputError, match="found is of steps with different columns: first, other"):
        analysis_of(step)


def test_what_was_taken_apart_is_kept_until_the_step_or_its_inputs_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    kept = Kept(tmp_path, ".steps", [b"one"])
    monkeypatch.setattr(step_analysis, "_kept", lambda: kept)

    def step(sql: str, *columns: str) -> RelationalStep:
        return RelationalStep(name="a", sql=sql, inputs=over(contract("calls", *columns)))

    sql = "SELECT * FROM {calls}"
    made = analysis_of(step(sql, "caller"))
    monkeypatch.setattr(step_analysis, "_kept", lambda: Kept(tmp_path, ".steps", [b"one"]))
    with monkeypatch.context() as without:
        without.setattr(step_analysis, "analyze", None)
        assert analysis_of(step(sql, "caller")) == made
    assert analysis_of(step(sql, "caller", "callee")).columns == ("caller", "callee")
    assert analysis_of(step(f"{sql} LIMIT 1", "caller")).fingerprint != made.fingerprint
    assert Kept(tmp_path, ".steps", [b"another"]).get("a", b"") is None
