"""The steps behind a run's assets, with what they were before it."""

from datetime import UTC, datetime

from lakehouse_assets.contracts.plans import PLANS
from lakehouse_assets.lake.run_plans import run_plans
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.stories.records import Plan
from lakehouse_assets_tests.support.stories import run
from lakehouse_assets_tests.support.writes import table_of, write


def test_a_step_is_told_as_it_was_in_the_run_and_before(lake: Lake):
    rows = [
        {
            "step": "fan_in",
            "run_id": name,
            "since": datetime.fromtimestamp(at, UTC),
            "assets": ["global_props"],
            "dialect": "duckdb",
            "fingerprint": name,
            "sql": f"SELECT {at}",
            "tree": "",
            "lineage": "{}",
        }
        for name, at in (("one", 10), ("two", 20), ("four", 40))
    ]
    write(lake, PLANS, table_of(PLANS, rows), partitions={"": ()}, run_id="x")

    def told(run_id: str, ended: float) -> Plan:
        (plan,) = run_plans(lake, run(run_id=run_id, ended=ended))["global_props"]
        return plan

    assert told("one", 15) == Plan(name="fan_in", text="SELECT 10", before=None)
    assert told("two", 25) == Plan(name="fan_in", text="SELECT 20", before="SELECT 10")
    assert told("three", 30) == Plan(name="fan_in", text="SELECT 20", before="SELECT 20")
    assert told("four", 45).before == "SELECT 20"
    assert run_plans(lake, run(run_id="zero", ended=5)) == {}


def test_a_lake_without_plans_tells_of_none(lake: Lake):
    assert run_plans(lake, run()) == {}
