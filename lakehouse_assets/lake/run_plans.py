"""The relational steps behind a run's assets, as they were in it and before."""

from collections.abc import Mapping
from typing import Any

from lakehouse_assets.contracts.plans import PLANS
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.stories.records import Plan, Run

_STEPS = "SELECT step, run_id, since, assets, sql FROM {plans} AS p ORDER BY since, step"


def run_plans(lake: Lake, run: Run) -> dict[str, tuple[Plan, ...]]:
    """By asset its steps, with what each was before this run: the same, unless the run was the first to see it so."""
    with local_sql() as connection:
        rows = connection.execute(_STEPS.format(plans=relation(lake, PLANS))).fetchall()
    now: dict[str, Mapping[str, Any]] = {}
    before: dict[str, Mapping[str, Any]] = {}
    for step, run_id, since, assets, sql in rows:
        if run_id != run.run_id and run.ended is not None and since.timestamp() > run.ended:
            continue
        if step in now:
            before[step] = now[step]
        now[step] = {"run_id": run_id, "assets": assets, "sql": sql}
    plans: dict[str, list[Plan]] = {}
    for step, row in now.items():
        first = row["run_id"] == run.run_id
        old = (before[step]["sql"] if step in before else None) if first else row["sql"]
        for asset in row["assets"]:
            plans.setdefault(asset, []).append(Plan(name=step, text=row["sql"], before=old))
    return {asset: tuple(found) for asset, found in plans.items()}
